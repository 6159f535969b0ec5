/** Owns text that knows where each of its characters came from; see `extractor/match/text.py`. */

import { bisectRight } from "./strings.js";

/** Characters, and what each step kept of those before it. */
export class Text {
  /**
   * @param {string} chars
   * @param {{starts: number[], before: number[], ends: number[]}[]} steps where each run starts now, and where it
   *   started and ended before
   */
  constructor(chars, steps = []) {
    this.chars = chars;
    this.steps = steps;
  }

  /** Where a character was in the original; the start of what was replaced, for what was not there. */
  origin(offset) {
    for (let n = this.steps.length - 1; n >= 0; n--) {
      const { starts, before, ends } = this.steps[n];
      const run = bisectRight(starts, offset) - 1;
      offset = Math.min(before[run] + offset - starts[run], ends[run]);
    }
    return offset;
  }
}

/** Each match replaced by what `replacement` makes of it. */
export function replaced(text, pattern, replacement) {
  const chars = text.chars;
  const pieces = [];
  const starts = [0];
  const before = [0];
  const ends = [chars.length];
  let done = 0;
  let length = 0;
  for (const match of chars.matchAll(pattern)) {
    const start = match.index;
    const made = replacement(match);
    pieces.push(chars.slice(done, start), made);
    length += start - done + made.length;
    done = start + match[0].length;
    ends[ends.length - 1] = start;
    starts.push(length);
    before.push(done);
    ends.push(chars.length);
  }
  if (!pieces.length) return text;
  pieces.push(chars.slice(done));
  return new Text(pieces.join(""), [...text.steps, { starts, before, ends }]);
}

/** The letters and digits of a text; where each was is worked out when it is first asked for. */
export class Squeezed {
  constructor(chars, whole) {
    this.chars = chars;
    this.whole = whole;
    this.places = null;
  }

  /** The offset in the text of a letter. */
  at(index) {
    if (!this.places) {
      this.places = new Uint32Array(this.chars.length);
      let n = 0;
      for (const run of this.whole.matchAll(/[\p{L}\p{N}]+/gu)) {
        for (let i = 0; i < run[0].length; i++) this.places[n++] = run.index + i;
      }
    }
    return this.places[index];
  }
}
