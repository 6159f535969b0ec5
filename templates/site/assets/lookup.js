/** Owns the lookup of the front page: what is pasted, dropped or typed goes to a worker, and its answer is shown. */

import * as address from "./lookup/address.js";
import { Client } from "./lookup/client.js";
import { fill } from "./lookup/facets.js";
import { listen } from "./lookup/keys.js";
import { logView, paragraph, spoken, wordsView } from "./lookup/view.js";

const LARGE = 200_000; // characters: a longer paste would make the box slow, and is searched without standing in it
const WORDS = 300; // characters of one line that may be words to search by, and that an address may hold
const SLOW = 400; // milliseconds after which somebody who waits is told so
const PAUSE = 150; // milliseconds without a key after which an answer is wanted

const $ = (id) => document.getElementById(id);
const [form, box, file, stop] = [$("lookup-form"), $("lookup-text"), $("lookup-file"), $("lookup-stop")];
const [status, progress, results] = [$("lookup-status"), $("lookup-progress"), $("lookup-results")];
const large = $("lookup-large");
const page = (id) => new URL(`../errors/${id}/index.html`, import.meta.url).href;
const single = () => box.value.length <= WORDS && !box.value.trim().includes("\n");

let held = null; // a file or a long paste, which is searched in the place of what stands in the box
let timer = 0;
let slow = 0;

const client = new Client((answer) => {
  if (answer.kind === "progress") {
    progress.max = answer.size;
    progress.value = answer.done;
    return;
  }
  settle();
  if (answer.kind === "failed") {
    show(`The lookup does not work here: ${answer.reason}.`, []);
    return;
  }
  const words = answer.kind === "words";
  $("lookup-facets").hidden = !words;
  if (words) fill(form, answer.facets, facets());
  show(spoken(answer), words ? wordsView(answer, page) : logView(answer, page));
});

function facets() {
  return Object.fromEntries(["exception", "package", "status"].map((name) => [name, form.elements[name].value]));
}

function show(said, views) {
  status.textContent = said;
  results.replaceChildren(...views);
}

function settle() {
  clearTimeout(slow);
  results.removeAttribute("aria-busy");
  stop.hidden = progress.hidden = true;
}

/** Asks about what is held, or what stands in the box. */
function ask() {
  clearTimeout(timer);
  clearTimeout(slow);
  const text = box.value;
  large.replaceChildren(held ? paragraph(`${held.name ?? "The paste"}: ${megabytes(held.size)}`, "quiet") : "");
  if (!held && !text.trim()) {
    close();
    return;
  }
  const query = !held && single() ? text.trim() : "";
  const asked = { q: query, ...facets(), release: form.elements.release.value };
  history.replaceState(null, "", address.written(asked) || location.pathname + location.search);
  progress.removeAttribute("value");
  stop.hidden = progress.hidden = (held?.size ?? text.length) < LARGE;
  results.setAttribute("aria-busy", "true");
  slow = setTimeout(() => (status.textContent = "Searching…"), SLOW);
  client.ask({ blob: held ?? new Blob([text]), query, facets: facets(), release: form.elements.release.value });
}

function hold(blob) {
  held = blob;
  box.value = "";
  ask();
}

/** Back to the empty box. */
function close() {
  clearTimeout(timer);
  client.stop();
  settle();
  held = null;
  box.value = "";
  for (const name of ["exception", "package", "status"]) form.elements[name].value = "";
  $("lookup-facets").hidden = true;
  large.replaceChildren();
  show("", []);
  history.replaceState(null, "", location.pathname + location.search);
  box.focus();
}

/** What the address asks for, or what a browser has put back into the box. */
function restore() {
  const query = address.read(location.hash);
  if (query.q) {
    held = null;
    box.value = query.q;
    for (const [name, value] of Object.entries(query)) {
      if (name === "q") continue;
      const list = form.elements[name];
      if (value && ![...list.options].some((option) => option.value === value)) list.add(new Option(value, value));
      list.value = value;
    }
  }
  if (box.value.trim()) ask();
}

function megabytes(size) {
  return size < 1e5 ? `${Math.ceil(size / 1e3)} KB` : `${(size / 1e6).toFixed(1)} MB`;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});
form.addEventListener("change", (event) => {
  if (event.target.matches("select")) ask();
});
box.addEventListener("focus", () => client.warm(form.elements.release.value), { once: true });
box.addEventListener("input", () => {
  held = null;
  clearTimeout(timer);
  timer = setTimeout(ask, PAUSE);
});
box.addEventListener("paste", (event) => {
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (text.length <= LARGE) return;
  event.preventDefault();
  hold(new Blob([text]));
});
file.addEventListener("change", () => {
  if (file.files.length) hold(file.files[0]);
  file.value = "";
});
for (const kind of ["dragover", "drop"]) {
  form.addEventListener(kind, (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    if (kind === "drop" && event.dataTransfer.files.length) hold(event.dataTransfer.files[0]);
  });
}
stop.addEventListener("click", () => {
  client.stop();
  settle();
  show("Stopped.", []);
  box.focus();
});
$("lookup-clear").addEventListener("click", close);
addEventListener("hashchange", restore);
addEventListener("pageshow", restore);
listen({ box, results, close, single });

$("lookup-needs").hidden = true;
form.hidden = false;
