/** Owns the address of a query: words and facets behind `#`, which a browser sends to nobody. */

const KEYS = ["q", "exception", "package", "status", "release"];

/** The query that an address holds: `q` and values of facets, "" for each that is not there. */
export function read(hash) {
  const found = new URLSearchParams(hash.replace(/^#/, ""));
  return Object.fromEntries(KEYS.map((key) => [key, found.get(key) ?? ""]));
}

/** The part of an address that holds a query; nothing for none. */
export function written(query) {
  const kept = new URLSearchParams(KEYS.filter((key) => query[key]).map((key) => [key, query[key]]));
  return query.q ? `#${kept}` : "";
}
