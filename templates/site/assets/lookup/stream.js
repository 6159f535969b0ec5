/** Owns reading a log of any size in pieces that overlap; see `extractor/match/stream.py`. */

import { stream as table } from "./tables.js";
import { enough } from "./find.js";
import { squeeze } from "./normalise.js";
import { count } from "./strings.js";

const { AROUND, OWN, SIGNS, SMALL } = table;

/** UTF-8 unless the first bytes say UTF-16, by their mark or by every other byte being none. */
export function encoding(head) {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  const sample = head.subarray(0, 4096);
  const zeros = [0, 0];
  sample.forEach((byte, n) => byte || zeros[n % 2]++);
  const [even, odd] = zeros;
  if (sample.length >= 8 && Math.max(even, odd) > 0.2 * sample.length && Math.min(even, odd) < 0.05 * sample.length) {
    return odd > even ? "utf-16le" : "utf-16be";
  }
  return "utf-8";
}

/** The text of a blob as it comes; what is not valid becomes a mark. */
export async function* decoded(blob) {
  const reader = blob.stream().getReader();
  let decoder = null;
  for (let block = await reader.read(); !block.done; block = await reader.read()) {
    decoder ??= new TextDecoder(encoding(block.value));
    yield decoder.decode(block.value, { stream: true });
  }
  if (decoder) yield decoder.decode();
}

/** The log in pieces: a text, what of it is the piece's own ([start, end)), the lines before it, its number. */
export async function* pieces(blob) {
  let [buffer, line, number, start] = ["", 0, 0, 0];
  for await (const text of decoded(blob)) {
    buffer += text;
    while (buffer.length - start >= OWN + AROUND) {
      const end = start + OWN;
      yield { text: buffer.slice(0, end + AROUND), start, end, line, number };
      number++;
      const cut = Math.max(0, end - AROUND);
      line += count(buffer, "\n", 0, cut);
      buffer = buffer.slice(cut);
      start = end - cut;
    }
  }
  if (buffer.length > start) yield { text: buffer, start, end: buffer.length + 1, line, number };
}

/** Whether a piece may have something in it, at a fraction of the cost of a search. */
export function promising(piece, lexicon) {
  if (piece.number < SMALL || SIGNS.some((sign) => piece.text.includes(sign))) return true;
  const blocks = new Set();
  lexicon.automaton.each(squeeze(piece.text), (_, block) => blocks.add(block));
  const found = new Map();
  for (const block of blocks) {
    for (const [number, , length] of lexicon.postings(block)) found.set(number, (found.get(number) ?? 0) + length);
  }
  return [...found].some(([number, letters]) => enough(lexicon.shape(number), letters));
}
