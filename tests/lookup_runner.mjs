/** Owns running the site's lookup under node: pastes as a JSON list on stdin, what is found in each on stdout. */

import { readFileSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, index] = process.argv.slice(2);
const module = (name) => import(pathToFileURL(`${folder}/${name}.js`).href);
const { Answer } = await module("engine");
const { Lexicon } = await module("lexicon");
const { asData } = await module("report");
const { pieces } = await module("stream");

const lexicon = new Lexicon(JSON.parse(readFileSync(`${folder}/${index}`, "utf8")));
const found = [];
for (const paste of JSON.parse(readFileSync(0, "utf8"))) {
  const answer = new Answer(lexicon);
  for await (const piece of pieces(new Blob([paste]))) answer.add(piece);
  found.push(asData(answer.ranked(), lexicon));
}
writeSync(1, JSON.stringify(found));
