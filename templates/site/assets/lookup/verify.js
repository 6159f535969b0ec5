/** Owns how well a message fits where a chain of its blocks was found; see `extractor/match/verify.py`. */

import { find as finding, verify as table } from "./tables.js";
import { find, rfind } from "./strings.js";

const { HOLE, INSERTED } = finding;
const { AGAIN, LOST } = table;

/** The best fit of a message around a chain of its blocks: pieces are {start, end, found} or null. */
export function fit(chars, shape, chain) {
  const starts = [0];
  for (const text of shape.pieces) starts.push(starts.at(-1) + text.length);
  const anchored = shape.pieces.map((text, n) => {
    const [first, last] = [starts[n], starts[n + 1]];
    const own = chain.hits.filter(([, o]) => first <= o && o < last).map(([p, o, size]) => [p, o - first, size]);
    return own.length ? _anchored(chars, text, own) : null;
  });
  const placed = _between(chars, shape.pieces, anchored);
  const first = placed.findIndex((p) => p !== null);
  const last = placed.findLastIndex((p) => p !== null);
  const head = first === 0 && chars.startsWith(shape.pieces[0].slice(0, 6), placed[0].start);
  const lastText = shape.pieces.at(-1);
  const foot =
    last === placed.length - 1 &&
    chars.startsWith(lastText.slice(-6), Math.max(0, placed[last].end - Math.min(6, lastText.length)));
  const found = placed.reduce((sum, p) => sum + (p ? p.found : 0), 0);
  return { shape: chain.shape, start: placed[first].start, end: placed[last].end, found, pieces: placed, head, foot };
}

/** A text some of whose blocks are known: whole, or as far as it goes on either side. */
function _anchored(chars, text, own) {
  const [position, offset] = own[0];
  const start = position - offset;
  if (start >= 0 && chars.startsWith(text, start)) return { start, end: start + text.length, found: text.length };
  const [endPosition, endOffset, endLength] = own.at(-1);
  const left = _commonBack(chars, position, text, offset);
  const [end, right] = _onwards(chars, endPosition + endLength, text, endOffset + endLength);
  let found = left + right;
  own.forEach(([p, o, size], n) => {
    found += size;
    if (n + 1 < own.length) {
      // between two blocks, what goes on from either
      const [q, r] = own[n + 1];
      const on = Math.min(_common(chars, p + size, text, o + size), r - o - size);
      const back = Math.min(_commonBack(chars, q, text, r), r - o - size - on, q - p - size - on);
      found += on + back;
    }
  });
  return { start: position - left, end, found };
}

/** How far a text goes on, over places where a few letters are lost, others, or put in: [end, letters found]. */
function _onwards(chars, i, text, j) {
  let n = _common(chars, i, text, j);
  let end = i + n;
  let found = n;
  i += n;
  j += n;
  while (text.length - j > AGAIN) {
    let at = -1;
    let skipped = 0;
    for (; skipped < LOST; skipped++) {
      const again = text.slice(j + skipped, j + skipped + AGAIN);
      at = again.length === AGAIN ? find(chars, again, i, i + INSERTED) : -1;
      if (at >= 0) break;
    }
    if (at < 0) break;
    j += skipped;
    n = _common(chars, at, text, j);
    end = at + n;
    found += n;
    i = at + n;
    j += n;
  }
  return [end, found];
}

function _common(chars, i, text, j) {
  let n = 0;
  const most = Math.min(chars.length - i, text.length - j);
  while (n < most && chars[i + n] === text[j + n]) n++;
  return n;
}

function _commonBack(chars, i, text, j) {
  let n = 0;
  const most = Math.min(i, j);
  while (n < most && chars[i - 1 - n] === text[j - 1 - n]) n++;
  return n;
}

/** Looks for the texts that had no block: backwards before the first known one, else forwards. */
function _between(chars, texts, anchored) {
  const placed = [...anchored];
  const first = placed.findIndex((p) => p !== null);
  let limit = placed[first].start;
  for (let i = first - 1; i >= 0; i--) {
    const at = rfind(chars, texts[i], Math.max(0, limit - HOLE), limit);
    if (at < 0) continue;
    placed[i] = { start: at, end: at + texts[i].length, found: texts[i].length };
    limit = at;
  }
  let low = placed[first].end;
  for (let i = first + 1; i < texts.length; i++) {
    if (placed[i]) {
      low = placed[i].end;
      continue;
    }
    const high = placed.slice(i + 1).find((p) => p !== null)?.start ?? low + HOLE;
    const at = find(chars, texts[i], low, high);
    if (at >= 0) {
      placed[i] = { start: at, end: at + texts[i].length, found: texts[i].length };
      low = at + texts[i].length;
    } else if (i === texts.length - 1) {
      // cut: as much of it as the log ends with, or has in the place of it
      const n = _common(chars, low, texts[i], 0);
      if (n >= 3 || (n && low + n === chars.length)) placed[i] = { start: low, end: low + n, found: n };
    }
  }
  return placed;
}
