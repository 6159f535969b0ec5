/** Owns which release of vLLM a log says it comes from; see `extractor/match/versions.py`. */

import { versions as table } from "./tables.js";

/** The first release that a text names, or null. */
export function stated(text) {
  if (!text.includes("llm") && !text.includes("LLM")) return null;
  table.SAYS.lastIndex = 0;
  const found = table.SAYS.exec(text);
  return found ? found.slice(1).find((group) => group) : null;
}
