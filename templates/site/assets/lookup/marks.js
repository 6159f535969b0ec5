/** Owns what squeezing cannot tell apart: spaces and marks of a text; the end of `extractor/match/judge.py`. */

import { judge as table } from "./tables.js";
import { hasAlnum, rejoined } from "./strings.js";

const { EDGE, PLAIN } = table;
const CODES = Object.keys(PLAIN).map((mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);
const MARKS = new RegExp(`[${CODES.join("")}]`, "g");

/** Which part of a message's texts is in the log with its marks; where lines were broken, spaces do not count. */
export function verbatim(parts, said) {
  const space = said.trim().includes("\n") ? "" : " ";
  const flat = rejoined(plain(said), space);
  const texts = parts.filter(([text]) => text !== null && hasAlnum(text)).map(([text]) => rejoined(plain(text), space));
  return texts.length ? texts.filter((text) => flat.includes(text)).length / texts.length : 1;
}

/** The same, of the characters on either side of each value: what siblings differ in. */
export function edges(parts, said) {
  const [flat, exact] = [rejoined(plain(said)), rejoined(said)];
  const texts = parts.filter(([text]) => text).map(([text]) => rejoined(`|${text}|`).slice(1, -1));
  const ends = texts.flatMap((text) => [text.slice(0, EDGE), text.slice(-EDGE)]);
  if (!ends.length) return 1;
  const there = ends.reduce((sum, end) => sum + Number(flat.includes(plain(end))) + Number(exact.includes(end)), 0);
  return there / (2 * ends.length);
}

/** Marks that are written in several ways, in one. */
export function plain(text) {
  return text.replace(MARKS, (mark) => PLAIN[mark]).toLowerCase();
}

/** Whether a word of the message is the name of the file: `for cuda with` in `platforms/cuda.py`. */
export function namesPath(said, path) {
  const stem = path.slice(path.lastIndexOf("/") + 1).split(".")[0];
  return stem.length >= 3 && said.toLowerCase().replace(/[(']/g, " ").split(/\s+/).includes(stem);
}
