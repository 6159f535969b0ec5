/** Owns what others' text looks like when it is shown: characters that hide or steer; see `extractor/printable.py`. */

import { printable as table } from "./tables.js";

const NAMED = { "\n": "\\n", "\t": "\\t", "\r": "\\r" };

/** The text with an escape for each character that is not seen; `multiline` keeps line ends and tabs. */
export function visible(text, multiline = false) {
  return text.replace(multiline ? table.LINES : table.LINE, _escape);
}

function _escape(character) {
  if (Object.hasOwn(NAMED, character)) return NAMED[character];
  const code = character.codePointAt(0).toString(16);
  if (code.length <= 2) return `\\x${code.padStart(2, "0")}`;
  return code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
}
