/** Owns what is taken off a log before it is searched; see `extractor/match/normalise.py`, whose steps these are. */

import { normalise as table } from "./tables.js";
import { count, lstrip } from "./strings.js";
import { Squeezed, Text, replaced } from "./text.js";

const NAMES = { n: "\n", r: "\n", t: "\t", b: " ", f: " " };
const CONTROLS = { 9: "\t", 10: "\n", 13: "\n" };

function _unescaped(match) {
  const body = lstrip(match[0], "\\");
  if (body[0] === "u" && body.length > 5) {
    return String.fromCharCode(parseInt(body.slice(1, 5), 16), parseInt(body.slice(-4), 16));
  }
  if ((body[0] === "u" || body[0] === "x") && body.length > 1) {
    const code = parseInt(body.slice(1), 16);
    const seen = code >= 0x20 && !(code >= 0xd800 && code < 0xe000);
    return seen ? String.fromCharCode(code) : (CONTROLS[code] ?? " ");
  }
  return NAMES[body] ?? body;
}

function _entity(match) {
  const name = match[0].slice(1, -1);
  let code = Object.hasOwn(table.ENTITIES, name) ? table.ENTITIES[name] : null;
  if (name[0] === "#") code = /^#[xX]/.test(name) ? parseInt(name.slice(2), 16) : parseInt(name.slice(1), 10);
  if (code === null) return match[0];
  if (code === 0xa0) return " ";
  const valid = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000);
  return valid ? String.fromCodePoint(code) : "\ufffd";
}

function _percent(match) {
  const bytes = match[0].slice(1).split("%").map((pair) => parseInt(pair, 16));
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(new Uint8Array(bytes));
}

/** Numbers before lines, where those of neighbours follow each other: one alone may belong to the text. */
function _in_sequence(chars, found) {
  const starts = new Set();
  for (let n = 1; n < found.length; n++) {
    const [before, after] = [found[n - 1], found[n]];
    const on = Number(after.groups.number) - Number(before.groups.number);
    const end = before.index + before[0].length;
    if (on >= 0 && on <= 1 && count(chars, "\n", end, after.index + 1) <= 1) {
      starts.add(before.index).add(after.index);
    }
  }
  return starts;
}

const BY = { _unescaped, _entity, _percent };
const ONLY = { _in_sequence };

function _apply(step, text) {
  if (step.only) {
    const counted = ONLY[step.only](text.chars, [...text.chars.matchAll(step.pattern)]);
    return counted.size ? replaced(text, step.pattern, (m) => (counted.has(m.index) ? "" : m[0])) : text;
  }
  return replaced(text, step.pattern, step.by ? BY[step.by] : () => step.replacement);
}

/** The text as it was written, with positions in `raw`. */
export function clean(raw) {
  let text = new Text(raw);
  for (const step of table.STEPS) {
    if (!step.signs.length || step.signs.some((sign) => raw.includes(sign))) text = _apply(step, text);
  }
  return text;
}

/** Letters and digits alone, in small letters, with their places. */
export function squeezed(text) {
  return new Squeezed(squeeze(text.chars), text.chars);
}

const SMALL = Uint8Array.from({ length: 128 }, (_, code) => {
  const c = String.fromCharCode(code);
  return /[0-9A-Za-z]/.test(c) ? c.toLowerCase().charCodeAt(0) : 0;
});
const ASCII = new TextDecoder("latin1");

/** The same without places. Long text in ASCII goes through a loop that takes a fifth of what a pattern takes. */
export function squeeze(text) {
  if (text.length < 500) return lowered(text.replace(/[^\p{L}\p{N}]+/gu, ""));
  const kept = new Uint8Array(text.length);
  let n = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 128) return lowered(text.replace(/[^\p{L}\p{N}]+/gu, ""));
    if (SMALL[code]) kept[n++] = SMALL[code];
  }
  return ASCII.decode(kept.subarray(0, n));
}

/** Small letters, one for one: `İ` alone would become two. */
export function lowered(text) {
  const small = text.toLowerCase();
  return small.length === text.length ? small : Array.from(text, (c) => _first(c.toLowerCase(), c)).join("");
}

function _first(small, c) {
  return small.length === c.length ? small : (String.fromCodePoint(small.codePointAt(0)) || c);
}
