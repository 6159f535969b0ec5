/** Owns answering in a thread of its own: takes a paste or words, loads the index they need, says what is found. */

import { Answer } from "./engine.js";
import { FORMAT, Lexicon } from "./lexicon.js";
import { visible } from "./printable.js";
import { asData } from "./report.js";
import { pieces } from "./stream.js";
import { stated } from "./versions.js";
import { Words } from "./words.js";

const LIMIT = 5; // errors of a log that are told
const TURN = 50; // milliseconds of work after which other messages are listened to

let latest = 0; // the question that is being answered; older ones are given up
let releases = null;
const lexicons = new Map();
const words = new Map();

async function read(name) {
  const response = await fetch(new URL(name, import.meta.url));
  if (!response.ok) throw new Error(`${name} cannot be loaded (${response.status})`);
  return response.json();
}

/** The index of a release by its label, or of the newest. */
async function lexiconOf(label) {
  releases ??= await read("releases.json");
  const chosen = releases.find((release) => release.label === label) ?? releases[0];
  if (!lexicons.has(chosen.label)) {
    const index = await read(chosen.index);
    if (index.format !== FORMAT) throw new Error("the site has changed: reload the page");
    lexicons.set(chosen.label, new Lexicon(index));
  }
  return lexicons.get(chosen.label);
}

/** The release that a log comes from, and what is to be said when it is not the one that was asked for. */
async function chosen(release, label) {
  releases ??= await read("releases.json");
  if (label || !release) return [label, ""];
  const wanted = release.split(".").length === 2 ? [release, `${release}.0`] : [release];
  const there = releases.find((one) => wanted.includes(one.release));
  if (there) return [there.label, `The log says vLLM ${release}, and was compared with that.`];
  const nearest = releases[0].release ?? releases[0].label;
  return [releases[0].label, `The log says vLLM ${release}, which is not on this site: compared with ${nearest}.`];
}

/** What is found in a log; nothing when another question came in between. */
async function ofLog({ number, blob, release }) {
  let answer = null;
  let note = "";
  let turn = performance.now();
  let done = 0;
  for await (const piece of pieces(blob)) {
    if (!answer) {
      const [label, said] = await chosen(stated(piece.text), release);
      answer = new Answer(await lexiconOf(label));
      note = said;
    }
    answer.add(piece);
    done += piece.end - piece.start;
    if (performance.now() - turn > TURN) {
      postMessage({ kind: "progress", number, done: Math.min(done, blob.size), size: blob.size });
      await new Promise((resume) => setTimeout(resume));
      turn = performance.now();
    }
    if (latest !== number) return null;
  }
  const lexicon = answer?.lexicon ?? (await lexiconOf(release));
  const errors = answer ? asData(answer.ranked(), lexicon).slice(0, LIMIT) : [];
  return { kind: "log", errors, note, release: lexicon.release ?? lexicon.label };
}

async function ofWords({ query, facets, release }) {
  const lexicon = await lexiconOf(release);
  if (!words.has(lexicon)) words.set(lexicon, new Words(lexicon));
  const found = words.get(lexicon).search(query, facets);
  return { kind: "words", query, ...found, release: lexicon.release ?? lexicon.label };
}

/** Others' text leaves here with all that hides or steers written out. */
function shown(value) {
  if (typeof value === "string") return visible(value, true);
  if (Array.isArray(value)) return value.map(shown);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shown(inner)]));
}

async function answered(question) {
  if (question.kind === "warm") {
    const lexicon = await lexiconOf(question.release);
    new Answer(lexicon).add({ text: "warm", start: 0, end: 4, line: 0, number: 0 });
    return null;
  }
  const found = await ofLog(question);
  const others = found && !found.errors.length && question.query;
  return others ? ofWords(question) : found;
}

onmessage = async ({ data: question }) => {
  if (question.kind !== "warm") latest = question.number;
  if (question.kind === "stop") return;
  try {
    const found = await answered(question);
    if (found && latest === question.number) postMessage({ ...shown(found), number: question.number });
  } catch (error) {
    postMessage({ kind: "failed", number: question.number, reason: visible(String(error.message ?? error)) });
  }
};
