/** Owns what stands in a log where a message has holes; the second half of `extractor/match/verify.py`. */

import { verify as table } from "./tables.js";
import { pieces } from "./lexicon.js";
import { hasAlnum, rejoined, rfind, rstrip, strip } from "./strings.js";

const { LONGEST_VALUE, WRAP } = table;

/** [expression, value] for each hole whose neighbours are there; `first` and `last` bound what is said. */
export function values(clean, squeezed, parts, found, first, last) {
  const [texts, where] = pieces(parts);
  if (texts.length !== found.pieces.length) return [];
  const out = [];
  let previous = [-1, first]; // index of the part, offset in the cleaned text behind it
  for (let n = 0; n <= texts.length; n++) {
    const piece = n < texts.length ? found.pieces[n] : null;
    const stop = n < texts.length ? where[n] : parts.length;
    let end;
    if (n === texts.length) {
      end = last;
    } else if (piece === null) {
      if (previous && found.pieces.slice(n).every((p) => p === null)) out.push(..._cut(clean.chars, parts, previous));
      previous = null;
      continue;
    } else {
      end = squeezed.at(piece.start);
    }
    if (previous && (piece === null || piece.found === texts[n].length)) {
      const begin = previous[0];
      const between = parts.slice(Math.max(begin, 0), stop + 1);
      if (between.some(([, expr]) => expr !== null)) {
        out.push(..._split(clean.chars.slice(previous[1], end), between, begin >= 0, n < texts.length));
      }
    }
    if (piece) previous = piece.found === texts[n].length ? [where[n], squeezed.at(piece.end - 1) + 1] : null;
  }
  return out;
}

/** The value that a log is cut in, when it is short. */
function _cut(chars, parts, [index, offset]) {
  const hole = parts.slice(index + 1).find(([, expr]) => expr !== null);
  const stop = chars.indexOf("\n", offset);
  const rest = chars.slice(offset, stop >= 0 ? stop : chars.length);
  if (rest.length > LONGEST_VALUE) return [];
  const between = [index >= 0 ? parts[index] : ["", null], hole];
  return _split(rest, between, index >= 0, false).map(([expr, value]) => [expr, rstrip(value, ".…")]);
}

/** A stretch without text of the message's own in letters: values, with marks between them. */
function _split(gap, between, opened, closed) {
  const tokens = between.map(([text, expr], i) => {
    if (text === null) return [expr, ""];
    if (i === 0 && opened) return [null, _afterLetters(text)];
    if (i === between.length - 1 && closed) return [null, _beforeLetters(text)];
    return [null, hasAlnum(text) ? "" : text];
  });
  const out = [];
  let position = 0;
  let waiting = null;
  tokens.forEach(([expr, mark], n) => {
    if (expr !== null) {
      if (waiting !== null) out.push([waiting, ""]);
      waiting = expr;
      return;
    }
    let core = rejoined(mark);
    if (!core) return;
    let at = n === tokens.length - 1 ? rfind(gap, core, position, gap.length) : gap.indexOf(core, position);
    while (at < 0 && core.length > 1) {
      // marks that were written otherwise, or lost
      core = core.slice(0, -1).trimEnd();
      at = gap.indexOf(core, position);
    }
    if (at < 0) return;
    if (waiting !== null) {
      out.push([waiting, _value(gap.slice(position, at))]);
      waiting = null;
    }
    position = at + core.length;
  });
  if (waiting !== null) out.push([waiting, _value(gap.slice(position))]);
  return out;
}

function _afterLetters(text) {
  let n = text.length;
  while (n && !hasAlnum(text[n - 1])) n--;
  return text.slice(n);
}

function _beforeLetters(text) {
  let n = 0;
  while (n < text.length && !hasAlnum(text[n])) n++;
  return text.slice(0, n);
}

/** Without the line ends that a terminal put in: a hard wrap has no space on either side. */
function _value(text) {
  return strip(text, " \t\n").replace(WRAP, "");
}
