/** Owns what is known of all messages before a log is read; see `extractor/match/lexicon.py`. */

import { common, lexicon as table } from "./tables.js";
import { Automaton } from "./automaton.js";
import { clean, squeeze } from "./normalise.js";
import { behindLast, hasAlnum } from "./strings.js";

export const FORMAT = 1;
const { BLOCK, HOLE, MOST_BLOCKS, SHORT, SHORTEST } = table;

/**
 * The squeezed text between holes, and the index of the part that each comes from.
 * @param {boolean} even the index says that normalising changes nothing in it
 */
export function pieces(parts, even = false) {
  const joined = parts.map(([text]) => (text === null ? HOLE : text.replaceAll(HOLE, "") + "\ue001")).join("");
  let runs = (even ? joined : clean(joined).chars).split(HOLE);
  if (runs.length !== parts.filter(([text]) => text === null).length + 1) runs = joined.split(HOLE);
  const found = [];
  const where = [];
  let index = 0;
  runs.forEach((run, n) => {
    let last = index;
    while (index < parts.length && parts[index][0] !== null) last = index++;
    const small = squeeze(run);
    if (small) {
      found.push(small);
      where.push(last);
    }
    if (n < runs.length - 1) index++;
  });
  return [found, where];
}

/** [offset in the whole, text] of what is sought for a message. */
export function blocks(texts) {
  const least = texts.some((text) => text.length >= SHORT) ? SHORT : SHORTEST;
  const out = [];
  let offset = 0;
  for (const text of texts) {
    if (text.length >= least) {
      const starts = [];
      for (let start = 0; start < text.length; start += BLOCK) starts.push(start);
      if (starts.length > 1 && text.length - starts.at(-1) < Math.floor(BLOCK / 2)) starts.pop();
      starts.forEach((start, n) => out.push([offset + start, text.slice(start, starts[n + 1] ?? text.length)]));
    }
    offset += text.length;
  }
  return out.slice(0, MOST_BLOCKS);
}

/** Whether a message has a word that other libraries' errors hardly have. */
export function isSpecial(parts) {
  const said = parts.filter(([text]) => text !== null).map(([text]) => text).join(" ");
  return (said.match(/[A-Za-z0-9_]{3,}/g) ?? []).some(
    (word) => !common.COMMON.has(word.toLowerCase()) && /[A-Za-z]/.test(word),
  );
}

/** All messages of a release, ready to be searched for. */
export class Lexicon {
  /** @param {object} index what `extractor/lookup/index.py` wrote */
  constructor(index) {
    this.label = index.label;
    this.release = index.release;
    this.entries = index.errors.map(_entry);
    this.shapes = [];
    this._names = new Map();
    const shapes = new Map();
    this.entries.forEach((entry, number) => {
      entry.variants.forEach((parts, n) => this._add(shapes, parts, number, n, !entry.uneven.includes(n)));
    });
    const postings = new Map();
    this.shapes.forEach((shape, number) => {
      for (const [offset, text] of blocks(shape.pieces)) {
        if (!postings.has(text)) postings.set(text, []);
        postings.get(text).push([number, offset, text.length]);
      }
    });
    this.automaton = new Automaton([...postings.keys()], SHORTEST);
    this._postings = [...postings.values()];
  }

  _add(shapes, parts, number, variant, even) {
    const [texts] = pieces(parts, even);
    if (!texts.length) return;
    const [lead, tail] = _ends(parts);
    const key = `${lead}${tail}${texts.join("\0")}`;
    let shape = shapes.get(key);
    if (!shape) {
      const total = texts.reduce((sum, text) => sum + text.length, 0);
      shape = { pieces: texts, lead, tail, total, special: false, errors: [] };
      shapes.set(key, shape);
      this.shapes.push(shape);
    }
    shape.special = isSpecial(parts);
    shape.errors.push([number, variant]);
  }

  shape(index) {
    return this.shapes[index];
  }

  /** Which shapes have a block. */
  postings(block) {
    return this._postings[block];
  }

  entry(index) {
    return this.entries[index];
  }

  /** The names of files and functions that an error is raised in. */
  names(index) {
    let found = this._names.get(index);
    if (!found) {
      const sites = this.entries[index].sites;
      found = new Set(sites.flatMap((site) => [behindLast(site.path, "/"), behindLast(site.symbol, ".")]));
      this._names.set(index, found);
    }
    return found;
  }
}

function _entry([id, message, kind, status, cause, bases, hints, variants, uneven, sites]) {
  const part = (given) => (typeof given === "string" ? [given, null] : [null, given[0]]);
  const read = variants.map((parts) => parts.map(part));
  return {
    id,
    message: message ?? read[0].map(([text, name]) => text ?? `{${name}}`).join(""),
    kind,
    status,
    cause,
    bases,
    hints,
    variants: read,
    uneven,
    sites: sites.map(([path, line, endLine, symbol, kind, exception, code, guards]) => ({
      path,
      line,
      endLine,
      symbol,
      kind,
      exception,
      code,
      guards,
    })),
  };
}

/** Whether a value stands before all text with letters, and after it. */
function _ends(parts) {
  const lettered = parts.map(([text]) => text !== null && hasAlnum(text));
  const first = lettered.indexOf(true);
  const last = lettered.lastIndexOf(true);
  const hole = ([text]) => text === null;
  return [parts.slice(0, first).some(hole), parts.slice(last + 1).some(hole)];
}
