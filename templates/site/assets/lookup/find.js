/** Owns finding candidates: blocks of messages, chained where they follow each other; see `extractor/match/find.py`. */

import { find as table } from "./tables.js";

const { ENOUGH, GOES_ON, HOLE, INSERTED, OFTEN, SHARE } = table;

/** Every chain with enough of its message in it to be looked at: hits are [position, offset in the shape, length]. */
export function chains(chars, lexicon) {
  const found = [];
  const open = new Map();
  const seen = new Map();
  lexicon.automaton.each(chars, (end, block) => {
    for (const [number, offset, length] of lexicon.postings(block)) {
      const hit = [end + 1 - length, offset, length];
      const hits = open.get(number);
      if (!hits) {
        open.set(number, [hit]);
        continue;
      }
      const [position, before, size] = hits.at(-1);
      const gap = hit[0] - position - size;
      if (offset >= before + size && gap >= 0 && gap <= _limit(lexicon.shape(number), before, offset)) {
        hits.push(hit);
        continue;
      }
      open.set(number, [hit]);
      const times = seen.get(number) ?? 0;
      if (times < OFTEN && _worth(chars, lexicon.shape(number), hits)) {
        seen.set(number, times + 1);
        found.push({ shape: number, hits });
      }
    }
  });
  for (const [number, hits] of open) {
    if (_worth(chars, lexicon.shape(number), hits)) found.push({ shape: number, hits });
  }
  return found;
}

/** Whether so many letters of a text in blocks may become a match. */
export function enough(shape, found) {
  return found >= ENOUGH || found * SHARE >= shape.total;
}

/** Whether a chain is to be looked at: enough blocks, or one behind which the text goes on until it is cut. */
function _worth(chars, shape, hits) {
  if (enough(shape, hits.reduce((sum, hit) => sum + hit[2], 0))) return true;
  const [position, offset, size] = hits.at(-1);
  const following = chars.slice(position + size, position + size + GOES_ON);
  let start = offset + size;
  for (const piece of shape.pieces) {
    if (start < piece.length) return following.length === GOES_ON && start > 0 && piece.startsWith(following, start);
    start -= piece.length;
  }
  return false;
}

/** How far apart two blocks may be: about as in the text, or a value in between. */
function _limit(shape, before, offset) {
  let passed = 0;
  for (const piece of shape.pieces) {
    passed += piece.length;
    if (before < passed) return offset >= passed ? HOLE : offset - before + INSERTED;
  }
  return INSERTED;
}
