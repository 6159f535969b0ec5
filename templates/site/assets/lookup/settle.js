/** Owns which of several messages that fit the same letters is meant; see `extractor/match/settle.py`. */

import { settle as table } from "./tables.js";

const { AROUND, MISSING, SAID, SCORE } = table;

/** What decides between matches for the same letters: those found, less some of those missing. */
export function worth(match) {
  const missing = match.part ? match.found / match.part - match.found : 0;
  const judged = match.judged[0];
  return match.found - MISSING * missing + (match.said ? SAID : 0) + SCORE * judged.score + judged.near;
}

/** One match for each place in one piece of a log. What stands in a value of another is kept when it fills it. */
export function settle(matches) {
  const kept = [];
  const sorted = matches.map((match) => [worth(match), match]);
  sorted.sort(([a, first], [b, second]) => b - a || first.start - second.start);
  for (const [, match] of sorted) {
    const clash = kept.some((other) => {
      if (_first(other) >= _last(match) || _last(other) <= _first(match)) return false;
      return !_inAHole(match, other) && !_inAHole(other, match);
    });
    if (!clash) kept.push(match);
  }
  return kept.sort((a, b) => a.start - b.start);
}

function _first(match) {
  return match.pieces[0][0];
}

function _last(match) {
  return match.pieces.at(-1)[1];
}

/** Whether one fills a value of the other, but for quotes and the name of an exception. */
function _inAHole(inner, outer) {
  const [first, last] = [_first(inner), _last(inner)];
  const hole = outer.holes.find(([start, end]) => start <= first && last <= end);
  if (hole) {
    return first - hole[0] <= AROUND && hole[1] - last <= Math.max(AROUND, Math.floor((last - first) / 2));
  }
  return first >= _last(outer) && first - _last(outer) <= AROUND;
}
