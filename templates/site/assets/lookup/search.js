/** Owns the search of one piece of a log: normalise, parse, find, fit, judge; see `extractor/match/search.py`. */

import { found as finding, judge as judging } from "./tables.js";
import * as find from "./find.js";
import { judge, seen } from "./judge.js";
import { parse, starts } from "./log.js";
import { clean, squeezed } from "./normalise.js";
import { near } from "./places.js";
import { settle } from "./settle.js";
import { bisectRight } from "./strings.js";
import { values } from "./values.js";
import { fit as fitted } from "./verify.js";

const { LONGEST } = finding;

/** What is in a piece of a log, in its order: one match for each place, with its values. */
export function search(raw, lexicon, piece = 0) {
  const cleaned = clean(raw);
  const small = squeezed(cleaned);
  const matches = settle(_matches(raw, cleaned, small, lexicon, piece));
  for (const match of matches) {
    match.values = match.judged.map((j) =>
      values(cleaned, small, lexicon.entry(j.entry).variants[j.variant], match.fit, match.first, match.inside[1]),
    );
  }
  return matches;
}

function _matches(raw, cleaned, small, lexicon, piece) {
  const matches = [];
  const done = new Set();
  let structure = null;
  let lines = [];
  for (const chain of find.chains(small.chars, lexicon)) {
    const shape = lexicon.shape(chain.shape);
    const fit = fitted(small.chars, shape, chain);
    const key = `${chain.shape} ${fit.start} ${fit.found}`;
    if (done.has(key)) continue;
    done.add(key);
    if (structure === null) [structure, lines] = [parse(cleaned, raw), starts(raw)];
    if (fit.found < Math.min(judging.LONG, shape.total)) {
      const above = structure.above(small.at(fit.start));
      if (above === null || !near(above.frames, shape, lexicon)) continue;
    }
    const at = seen(fit, shape, cleaned, small, structure);
    const begin = Math.max(at.first - 2, structure.lineAt(at.first)); // with the quote that a text may begin with
    const behind = small.at(fit.end - 1);
    const said = cleaned.chars.slice(begin, Math.max(at.last, behind + 3)).slice(0, LONGEST);
    const judged = judge(fit, shape, at, lexicon, said);
    if (!judged.length) continue;
    const first = shape.lead ? at.first : small.at(fit.start);
    const last = Math.max(at.last, behind + 1);
    const [start, end] = [cleaned.origin(first), cleaned.origin(last - 1) + 1];
    const spans = fit.pieces.filter((p) => p !== null).map((p) => [p.start, p.end]);
    matches.push({
      judged, // errors with this message, likeliest first
      found: fit.found, // letters of text
      part: fit.found / shape.total,
      whole: fit.found >= shape.total,
      start, // offsets in the piece of the log, as it is
      end,
      firstLine: bisectRight(lines, start), // from 1
      lastLine: bisectRight(lines, end),
      matched: raw.slice(start, end).slice(0, LONGEST),
      values: [], // for each of `judged`
      raised: at.raised,
      said: at.said,
      rough: _rough(fit, shape, at),
      source: at.source,
      first: at.first,
      inside: [first, last], // in cleaned text
      fit,
      piece, // letters are counted from its start
      pieces: spans, // where its texts are, in letters
      holes: spans.slice(1).map((span, n) => [spans[n][1], span[0]]), // and its values
    });
  }
  return matches;
}

/** Whether other words are in the place of some, or some are missing where nothing was cut. */
function _rough(fit, shape, at) {
  if (fit.found >= judging.NEARLY * shape.total) return false;
  return (fit.head && fit.foot) || !(at.cut || at.left || fit.foot);
}
