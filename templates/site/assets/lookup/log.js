/** Owns the structure of a cleaned log: frames, exceptions, chains, processes; see `extractor/match/log.py`. */

import { log as table } from "./tables.js";
import { behindLast, bisectRight, lstrip, rstrip, strip } from "./strings.js";

const { CELL_SIGNS, MOST_FRAMES, PID, SOUGHT } = table;

/** What is known of a piece of a log; `raised` in its order. */
export class Log {
  constructor(lines) {
    this.lines = lines;
    this.raised = [];
    this.texts = [];
  }

  /** The index of the line that holds an offset. */
  lineOf(offset) {
    return bisectRight(this.lines, offset) - 1;
  }

  /** Where that line starts. */
  lineAt(offset) {
    return this.lines[this.lineOf(offset)];
  }

  /** The nearest exception whose text begins at or before the offset, or null. */
  above(offset) {
    return this.raised[bisectRight(this.texts, offset) - 1] ?? null;
  }
}

/** Which process a line's prefix names; nothing when it names none. */
export function processOf(lead) {
  if (!lead.includes("pid") && !lead.includes("Worker")) return "";
  PID.lastIndex = 0;
  const found = PID.exec(lead)?.groups;
  return found ? (found.worker ?? `${found.name} ${found.number}`) : "";
}

/** Where lines start. */
export function starts(chars) {
  const found = [0];
  for (let at = chars.indexOf("\n"); at >= 0; at = chars.indexOf("\n", at + 1)) found.push(at + 1);
  return found;
}

/** The structure of cleaned text; `raw` is what its positions count in. */
export function parse(text, raw) {
  const chars = text.chars;
  const log = new Log(starts(chars));
  const frames = new Map(); // by process: those since the last exception
  const chained = new Map();
  let lastProcess = "";

  const process = (offset) => {
    const first = text.origin(log.lineAt(offset));
    return processOf(behindLast(raw.slice(Math.max(0, first - 400), first), "\n"));
  };

  const cells = CELL_SIGNS.some((sign) => chars.includes(sign));
  for (const match of chars.matchAll(SOUGHT[Number(cells)])) {
    const found = match.groups;
    const start = match.index;
    const who = process(start);
    const frame = _frame(found, chars, log, start + match[0].length);
    if (frame) {
      lastProcess = who;
      if (!frames.has(who)) frames.set(who, []);
      const open = frames.get(who);
      if (open.length >= MOST_FRAMES) open.splice(0, Math.floor(MOST_FRAMES / 2));
      open.push(frame);
    } else if (found.traceback) {
      frames.set(who, []);
    } else if (found.cause || found.context) {
      chained.set(who, found.cause ? "cause" : "context");
    } else if (found.body || found.pydantic) {
      const exception = match[0].startsWith("Value") ? "ValueError" : found.pydantic ? "AssertionError" : "";
      const end = start + match[0].length;
      log.raised.push({ start, text: end, exception, final: false, frames: [], process: who, chained: "" });
    } else {
      _exception(match, chars, log, who, frames, chained, lastProcess);
    }
  }
  log.texts = log.raised.map((raised) => raised.text);
  return log;
}

/** A frame, when that is what was found. */
function _frame(found, chars, log, end) {
  if (found.frame) {
    const path = found.path.replaceAll("\n", "");
    return { path, line: Number(found.line), function: found.function ?? "", code: _below(chars, log, end) };
  }
  if (found.cell) {
    return { path: found.cellpath, line: Number(found.cellline ?? 0), function: found.cellfunction, code: "" };
  }
  return found.tool ? { path: found.toolpath, line: Number(found.toolline), function: "", code: "" } : null;
}

/** The line after the one that holds an offset, without its indentation. */
function _below(chars, log, offset) {
  const below = log.lineOf(offset) + 1;
  if (below === log.lines.length) return "";
  const end = below + 1 < log.lines.length ? log.lines[below + 1] - 1 : chars.length;
  return chars.slice(log.lines[below], Math.min(end, log.lines[below] + 200)).trim();
}

function _exception(match, chars, log, who, frames, chained, lastProcess) {
  const end = match.index + rstrip(match[0], " \t\n\"'(:)").length;
  let first = end;
  while (first > Math.max(0, end - 200) && /[A-Za-z0-9_.]/.test(chars[first - 1])) first--;
  const exception = lstrip(chars.slice(first, end), ".0123456789");
  if (!exception) return;
  const start = end - exception.length;
  const final = !strip(chars.slice(log.lineAt(start), start), " \t|+-*•>#`_🚫❌“”\"'[]");
  let open = [];
  if (final) {
    open = _taken(frames, who) ?? [];
    if (!open.length && !who) open = _taken(frames, lastProcess) ?? [];
  }
  log.raised.push({
    start,
    text: match.index + match[0].length,
    exception,
    final,
    frames: open,
    process: who,
    chained: final ? (_taken(chained, who) ?? "") : "",
  });
}

function _taken(map, key) {
  const value = map.get(key);
  map.delete(key);
  return value;
}
