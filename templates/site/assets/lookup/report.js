/** Owns what is said of the errors in a log; see `extractor/match/report.py`. */

import { report as table } from "./tables.js";

const { MESSAGE, VALUE } = table;

/**
 * The errors in a log as plain data: the fields of `match --json`, and what a person is shown besides.
 * @param {{match: object, choice: number, role: string}[]} ranked
 */
export function asData(ranked, lexicon) {
  return ranked.map((one) => _data(one, lexicon));
}

function _data({ match, choice, role }, lexicon) {
  const judged = match.judged[choice];
  const entry = lexicon.entry(judged.entry);
  const sites = [entry.sites[judged.site], ...entry.sites.filter((_, n) => n !== judged.site)];
  const values = match.values[choice].map(([expr, value]) => ({ expr, value }));
  return {
    id: entry.id,
    role,
    score: judged.score,
    matched: match.matched,
    exception: sites[0].exception,
    message: entry.message,
    values,
    lines: [match.firstLine, match.lastLine],
    sites: sites.map(({ path, line, endLine, symbol }) => ({ path, line, end_line: endLine, symbol })),
    filled: filled(entry.variants[judged.variant], values),
    rough: match.rough,
    guards: sites[0].guards.map(([line, text]) => ({ line, text })),
    hints: entry.hints,
  };
}

/** The message in pieces, {text} or {expr, value}, as far as values are there and it is not too long. */
export function filled(parts, values) {
  const left = [...values];
  const out = [];
  let length = 0;
  for (const [text, expr] of parts) {
    if (length > MESSAGE) break;
    if (text !== null) {
      out.push({ text: text.slice(0, MESSAGE) });
    } else {
      const at = left.findIndex((value) => value.expr === expr);
      out.push({ expr, value: at < 0 ? null : left.splice(at, 1)[0].value.slice(0, VALUE) });
    }
    length += (text ?? out.at(-1).value ?? expr).length;
  }
  return out;
}
