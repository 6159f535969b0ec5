/** Owns which match is the root cause, and what was raised because of it; see `extractor/match/rank.py`. */

import { rank as table } from "./tables.js";

const { BETTER, FRAMED, SAYS_SO, SIBLINGS, STRONG } = table;

/** Whether a match is in the text of another, in one of its values or the last. */
export function inside(inner, outer) {
  if (inner === outer || inner.piece !== outer.piece) return false;
  const [first, last] = [inner.pieces[0][0], inner.pieces.at(-1)[1]];
  if (outer.holes.some(([start, end]) => start <= first && last <= end)) return true;
  return outer.start <= inner.start && inner.end <= outer.end && inner.start > outer.start;
}

/** The errors in a log as {match, choice, role}, the root cause first. */
export function rank(matches, lexicon) {
  const best = _oneEach(matches);
  const consequences = new Set(best.filter((match) => _because(match, best, lexicon)));
  const causes = best.filter((match) => !consequences.has(match));
  const root = _root(causes);
  const out = [];
  if (root) out.push(..._withSiblings(root, "root"));
  for (const match of causes) if (match !== root) out.push(..._withSiblings(match, "other"));
  for (const match of [...consequences].sort((a, b) => a.start - b.start)) {
    out.push(..._withSiblings(match, "consequence"));
  }
  const seen = new Set();
  return out.filter(({ match, choice }) => {
    const { entry } = match.judged[choice];
    return !seen.has(entry) && seen.add(entry);
  });
}

/** The best place of each error, in the order of first places. */
function _oneEach(matches) {
  const best = new Map();
  const first = new Map();
  for (const match of [...matches].sort((a, b) => a.start - b.start)) {
    const key = match.judged[0].entry;
    if (!best.has(key) || _better(match, best.get(key))) best.set(key, match);
    if (!match.source && !first.has(key)) first.set(key, match.start);
  }
  const place = (match) => first.get(match.judged[0].entry) ?? match.start;
  return [...best.values()].sort((a, b) => place(a) - place(b));
}

function _better(match, known) {
  const better = match.judged[0].score > known.judged[0].score + BETTER;
  const pairs = [[!match.source, !known.source], [match.whole, known.whole], [match.said, known.said], [better, false]];
  const [mine, other] = pairs.find(([a, b]) => a !== b) ?? [false, false];
  return mine && !other;
}

function _because(match, all, lexicon) {
  SAYS_SO.lastIndex = 0;
  if (SAYS_SO.test(lexicon.entry(match.judged[0].entry).message)) return true;
  if (all.some((other) => inside(other, match))) return true;
  if (!match.raised || !match.said || !match.raised.chained) return false;
  const before = all.filter((m) => m.end <= match.start && m.said && m.raised).at(-1);
  return before !== undefined && before.raised.process === match.raised.process;
}

/** The first that an exception says and that is not much weaker than the best; else the first. */
function _root(causes) {
  if (!causes.length) return null;
  const most = Math.max(...causes.map((match) => match.judged[0].score));
  const strong = causes.filter((match) => match.judged[0].score >= STRONG * most);
  return strong.find((m) => m.said && !m.source) ?? strong.find((m) => !m.source) ?? strong[0];
}

/** The likeliest error of a match; the others with its text unless frames tell that they are not meant. */
function _withSiblings(match, role) {
  const most = match.judged[0].support;
  const siblings = match.judged
    .map((judged, choice) => ({ judged, choice }))
    .filter(({ judged, choice }) => choice && !(most >= FRAMED && judged.support < most))
    .slice(0, SIBLINGS);
  const others = role === "root" ? "other" : role;
  return [{ match, choice: 0, role }, ...siblings.map(({ choice }) => ({ match, choice, role: others }))];
}
