/** Owns what a fit is worth: the score, and silence when the evidence is too little; see `extractor/match/judge.py`. */

import { judge as table, places } from "./tables.js";
import { bestSite, foreign } from "./places.js";
import { edges, namesPath, verbatim } from "./marks.js";
import { behindLast, count, hasAlnum, rfind, strip } from "./strings.js";

const { BEFORE, BEHIND, CLOSING, ELIDED, ENDS, LEAD, LINE, NAMES, OPENING, REST } = table;
const { APART, DOUBLING, FEW, FRAMED, INNER, LEFT, LONG, MANY, NAMED, NEARLY, OPENED } = table;
const { OWN_FILE, SHORT, SOURCE, SURE, THRESHOLD, TORN, VERBATIM } = table;
const BUILTIN = table.BUILTIN;

/** What stands around a fit; `first` and `last` are offsets in the cleaned text. */
export function seen(fit, shape, clean, squeezed, log) {
  const chars = clean.chars;
  const [start, end] = [squeezed.at(fit.start), squeezed.at(fit.end - 1) + 1];
  const raised = log.above(start);
  const line = Math.max(log.lineAt(start), start - LINE);
  const said = raised !== null && positionFree(chars, raised.text, start, shape.lead);
  let first = start;
  if (said) {
    first = raised.text;
  } else if (shape.lead) {
    const quote = Math.max(rfind(chars, '"', line, Math.max(line, start - 2)), line);
    first = chars[quote] === '"' ? quote + 1 : line;
  }
  const text = chars.slice(line, start);
  const named = _endsWith(squeezed.chars.slice(Math.max(0, fit.start - 12), fit.start), NAMES);
  const opens = said || named || !strip(text, OPENING) || (shape.lead && start - line <= LEAD);
  const stop = _lineEnd(chars, end);
  const rest = chars.slice(end, stop);
  const closes = shape.tail || !strip(rest, CLOSING) || rest.startsWith(" [type=") || _quoted(rest);
  const after = chars.slice(end, end + BEHIND).replace(/^[ \t\n'"`)]+/, "");
  const cut = !after || /^[.,; ]*…/.test(after) || ELIDED.some((mark) => after.startsWith(mark));
  const source = text.includes("raise ") || text.slice(-2).includes('f"') || text.slice(-2).includes("f'");
  const there = fit.pieces.findLastIndex((p) => p !== null);
  const complete = fit.pieces[there].found === shape.pieces[there].length;
  const value = complete && there < shape.pieces.length - 1 && rest.length <= REST;
  const left = value || !strip(rest, CLOSING);
  const torn = !strip(text, OPENING) && (line === 0 || text.trim() !== "" || start === line);
  const inner = log.above(end);
  const ends = count(chars, "\n", start, end);
  // a value in the middle may be long: not wraps of a narrow terminal, not sentences that end with their lines
  const others =
    (inner !== null && inner.start > start && inner.final && _endsWith(inner.exception.toLowerCase(), NAMES)) ||
    (12 < ends && ends < (end - start) / 40) ||
    count(chars, ".\n", start, end) > 1;
  const last = shape.tail ? _endOfSaying(rest, end, stop) : end;
  const small = log.lines.length <= FEW;
  return { raised, opens, closes, said, cut, left, torn, others, small, source, first, last };
}

function _endsWith(text, endings) {
  return endings.some((ending) => text.endsWith(ending));
}

function _lineEnd(chars, offset) {
  const within = chars.slice(offset, offset + LINE);
  const stop = within.indexOf("\n");
  return offset + (stop < 0 ? within.length : stop);
}

/** Whether a quote is closed before anything else is said. */
function _quoted(rest) {
  for (const c of rest) {
    if ("\"'`”’»".includes(c)) return true;
    if (hasAlnum(c)) return false;
  }
  return false;
}

/** Whether only a value, or nothing with letters, is between where an exception's text begins and the fit. */
export function positionFree(chars, text, start, lead) {
  const between = chars.slice(text, start);
  if (!hasAlnum(between)) return true;
  return lead && between.length <= BEFORE && count(between, "\n") <= 1;
}

/** Where a value at the end of a message ends: with its line, or with the quote that was opened. */
function _endOfSaying(rest, end, stop) {
  const mark = ENDS.find((sought) => rest.includes(sought));
  return mark === undefined ? stop : end + rest.indexOf(mark);
}

/** The errors that have the message, likeliest first; `said` is the cleaned text of the fit. */
export function judge(fit, shape, at, lexicon, said) {
  const part = present(fit, shape, at);
  const frames = at.raised?.frames ?? [];
  const name = at.raised && at.said ? behindLast(at.raised.exception, ".") : "";
  const out = [];
  for (const [number, variant] of shape.errors) {
    const entry = lexicon.entry(number);
    const [site, support] = bestSite(entry.sites, frames, name);
    const named = (s) => behindLast(s.exception, ".") === name;
    const same = name !== "" && (entry.bases.includes(name) || entry.sites.some(named));
    const literal = verbatim(entry.variants[variant], said);
    const builtin = BUILTIN.has(name) && entry.sites.some((s) => BUILTIN.has(s.exception));
    const plausible = !name || same || !builtin;
    if (!allowed(fit, shape, at, { support, same, plausible, literal, framed: frames.length > 0 })) continue;
    let doubt = (1 - part * (1 - 2 ** (-fit.found / DOUBLING))) * (1 - support);
    if (same) doubt *= 1 - NAMED;
    const score = (1 - doubt) * (at.source ? SOURCE : 1);
    if (score < THRESHOLD) continue;
    const own = namesPath(said, entry.sites[site].path) ? OWN_FILE : 0;
    const near = edges(entry.variants[variant], said) + own;
    out.push({ entry: number, variant, site, score: Math.round(score * 1e4) / 1e4, support, near });
  }
  const id = (judged) => lexicon.entry(judged.entry).id;
  return out.sort((a, b) => b.score - a.score || b.near - a.near || (id(a) < id(b) ? -1 : 1));
}

/** Which part of the message is there; what a cut took away counts less, for nobody can tell. */
export function present(fit, shape, at) {
  const missing = shape.total - fit.found;
  return fit.found / (fit.found + missing * (fit.head && (at.cut || at.left) ? LEFT : 1));
}

/** Whether there is enough to speak at all. */
export function allowed(fit, shape, at, evidence) {
  const part = fit.found / shape.total;
  const first = fit.pieces.findIndex((p) => p !== null);
  const whole = part === 1 || (part >= NEARLY && fit.found >= SURE);
  if (at.said && foreign(at.raised) && evidence.support === 0) return false;
  if (evidence.support >= places.PLACES.file && at.said && (part >= FRAMED || fit.found >= LONG)) return true;
  if (fit.found < APART && at.others) return false;
  if (whole) {
    if (fit.found >= (shape.special ? LONG + 8 : SURE)) return true;
    if (fit.found >= LONG && shape.special) return (at.opens || at.closes) && evidence.literal >= VERBATIM;
    const alone = fit.found >= SHORT && at.opens && at.closes && evidence.literal === 1 && evidence.plausible;
    return alone && (shape.special || (!evidence.framed && at.small));
  }
  if (fit.head && !fit.foot && (at.cut || at.left)) {
    return (at.opens && fit.found >= (at.cut ? LONG : LONG + 4)) || fit.found >= SURE;
  }
  if (fit.foot && !fit.head) {
    // its beginning is cut off, in a value or with the line
    const begins = first > 0 && fit.pieces[first].found === shape.pieces[first].length;
    return part >= TORN && fit.found >= LONG + 8 && (begins || at.torn);
  }
  // other words: between its ends, or after values that fit. A text that only ends otherwise is another message's
  const complete = fit.pieces.filter((p, n) => p !== null && p.found === shape.pieces[n].length).length;
  if (!(fit.head && fit.foot) && complete < 2) return false;
  return fit.head ? part >= OPENED && fit.found >= SURE && at.opens : part >= INNER && fit.found >= MANY;
}
