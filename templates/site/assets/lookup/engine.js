/** Owns the way from a log to ranked errors: pieces searched one by one; see `extractor/match/engine.py`. */

import { engine as table, stream } from "./tables.js";
import { rank } from "./rank.js";
import { search } from "./search.js";
import { promising } from "./stream.js";

const { PLACES } = table;

/** What is found in pieces of a log that come one after the other. */
export class Answer {
  constructor(lexicon) {
    this.lexicon = lexicon;
    this.places = new Map();
  }

  /** Searches the next piece. */
  add(piece) {
    if (!promising(piece, this.lexicon)) return;
    for (const match of search(piece.text, this.lexicon, piece.number)) {
      if (piece.start <= match.start && match.start < piece.end) _keep(this.places, _placed(match, piece));
    }
  }

  /** The errors, root cause first. */
  ranked() {
    return rank([...this.places.values()].flat(), this.lexicon);
  }
}

/** With lines of the log, and an order among all pieces. */
function _placed(match, piece) {
  const before = piece.number * stream.OWN - piece.start; // where the piece's text begins in the log, to order by
  match.firstLine += piece.line;
  match.lastLine += piece.line;
  match.start += before;
  match.end += before;
  return match;
}

function _keep(places, match) {
  const key = match.judged[0].entry;
  if (!places.has(key)) places.set(key, []);
  const found = places.get(key);
  if (found.length < PLACES) {
    found.push(match);
    return;
  }
  const last = found.at(-1);
  const better = match.said === last.said ? match.judged[0].score > last.judged[0].score : match.said;
  if (better) found[found.length - 1] = match;
}
