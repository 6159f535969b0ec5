/** Owns search by words over a release's errors: typos allowed, beginnings of words, and facets with their counts. */

import MiniSearch from "../vendor/minisearch/minisearch-7.2.0.js";

export const FACETS = ["exception", "package", "status"];
const SHOWN = 50;
const LONGEST = 40; // letters of a word that may have typos
const FEW = 6; // words of which some are enough, when no error has all

/** Search by words over one lexicon. */
export class Words {
  constructor(lexicon) {
    this.lexicon = lexicon;
    this.index = new MiniSearch({
      idField: "number",
      fields: ["message", "exception", "symbol", "path", "id"],
      searchOptions: {
        boost: { message: 3, exception: 2 },
        prefix: (term) => term.length > 1,
        fuzzy: (term) => (term.length > 3 && term.length < LONGEST && !/\d/.test(term) ? 0.2 : false),
      },
    });
    this.index.addAll(lexicon.entries.map(_document));
  }

  /**
   * The best errors for words, and for each facet how many there are of each value, the commonest first.
   * @param {string} query
   * @param {Record<string, string>} chosen values of facets; "" is any
   */
  search(query, chosen) {
    let hits = this.index.search(query, { combineWith: "AND" });
    if (!hits.length && query.trim().split(/\s+/).length <= FEW) hits = this.index.search(query);
    const found = hits.map((hit) => this.lexicon.entry(hit.id)).map((entry) => ({ entry, facets: _facets(entry) }));
    const passes = (one, but) => FACETS.every((f) => f === but || !chosen[f] || one.facets[f] === chosen[f]);
    const facets = Object.fromEntries(FACETS.map((f) => [f, _counts(found.filter((one) => passes(one, f)), f)]));
    const kept = found.filter((one) => passes(one));
    return { total: kept.length, facets, errors: kept.slice(0, SHOWN).map((one) => _row(one.entry)) };
  }
}

function _document(entry, number) {
  return {
    number,
    id: entry.id,
    message: entry.message,
    exception: [...new Set(entry.sites.map((site) => site.exception))].join(" "),
    symbol: [...new Set(entry.sites.map((site) => site.symbol))].join(" "),
    path: entry.sites[0].path,
  };
}

/** The package of a file: its first two folders. */
export function packageOf(path) {
  return path.split("/").slice(0, -1).slice(0, 2).join("/") || ".";
}

function _facets(entry) {
  const [site] = entry.sites;
  return { exception: site.exception, package: packageOf(site.path), status: String(entry.status ?? "") };
}

function _counts(found, facet) {
  const counts = new Map();
  for (const one of found) {
    const value = one.facets[facet];
    if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

function _row(entry) {
  const { exception, path, line, symbol } = entry.sites[0];
  return { id: entry.id, message: entry.message, exception, path, line, symbol };
}
