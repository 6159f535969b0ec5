/** Owns talking with the worker: one question at a time, the newest; older answers are never heard. */

/** The page's side of the worker, which is started when it is first needed. */
export class Client {
  /** @param {(answer: object) => void} heard called with each answer and progress to the newest question */
  constructor(heard) {
    this.heard = heard;
    this.number = 0;
    this.worker = null;
  }

  _started() {
    if (!this.worker) {
      this.worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
      this.worker.onmessage = ({ data }) => {
        if (data.number === this.number) this.heard(data);
      };
      this.worker.onerror = () => this.heard({ kind: "failed", reason: "its scripts cannot be loaded" });
    }
    return this.worker;
  }

  /** Loads an index ahead of the first question. */
  warm(release) {
    this._started().postMessage({ kind: "warm", number: this.number, release });
  }

  /** Asks about a log or words. @param {{blob: Blob, query: string, facets: object, release: string}} question */
  ask(question) {
    this._started().postMessage({ kind: "find", number: ++this.number, ...question });
  }

  /** Gives the newest question up. */
  stop() {
    this.number++;
    this.worker?.postMessage({ kind: "stop", number: this.number });
  }
}
