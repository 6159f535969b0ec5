/** Owns what an answer looks like. Others' text is only ever the text of a node. */

const LOGGED = /(?:Error|Exception|Warning)\)?: /; // words that are a line of a log

const VALUE = 300; // characters of a value that are shown
const ROW = 200; // and of a message in a list

function number(value) {
  return value.toLocaleString("en");
}

function shortened(text, most) {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** An element with attributes and children; texts become nodes of text. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** What is found in a log: the root cause at length, the others in a line each. */
export function logView({ errors, note, release }, page) {
  if (!errors.length) return [paragraph(note, "quiet")];
  const [first, ...rest] = errors;
  const groups = [
    ["Raised because of it", rest.filter((error) => error.role === "consequence")],
    ["The same text, or another error in the log", rest.filter((error) => error.role !== "consequence")],
  ];
  return [
    paragraph(note, "quiet"),
    _first(first, release, page),
    ...groups.filter(([, group]) => group.length).flatMap(([title, group]) => [
      element("h3", {}, title),
      element("ul", { class: "rows" }, ...group.map((error) => _row(error, _where(error), page))),
    ]),
  ];
}

/** Errors found by words. */
export function wordsView({ errors, total }, page) {
  if (!errors.length) return [];
  const more = total > errors.length ? `The first ${errors.length} of ${number(total)}.` : "";
  return [element("ul", { class: "rows" }, ...errors.map((error) => _row(error, "", page))), paragraph(more, "quiet")];
}

/** A paragraph, or nothing for nothing. */
export function paragraph(text, kind) {
  return text ? element("p", { class: kind }, text) : "";
}

/** What somebody who cannot see the page is told. */
export function spoken(answer) {
  if (answer.kind === "words") return _counted(answer);
  const [first] = answer.errors;
  if (!first) return `Nothing of vLLM’s found: no error of vLLM ${answer.release} fits this log.`;
  const role = first.role === "root" ? "Root cause" : "Raised because of another error that this log does not show";
  return `${role}: ${first.exception}, ${_where(first)}`;
}

function _counted({ total, release, query }) {
  const silent = LOGGED.test(query) ? `As a log, nothing of vLLM’s found in it. ` : "";
  if (!total) return `${silent}No error of vLLM ${release} has these words.`;
  return `${silent}${number(total)} ${total === 1 ? "error" : "errors"} of vLLM ${release} with these words`;
}

function _first(error, release, page) {
  const [site, ...others] = error.sites;
  const place = `${site.path}:${site.line} in ${site.symbol} (${release})`;
  const evidence = `${_where(error)}, score ${error.score.toFixed(2)}`;
  const places = others.slice(0, 5).map(({ path, line }) => `${path}:${line}`);
  const also = places.length ? `also raised at ${places.join(", ")}` : "";
  const raised = [...error.guards.map(_guard), ...[place, also].filter(Boolean).map(_item)];
  const values = error.values.filter(({ expr, value }) => expr && value);
  return element(
    "article",
    { class: "card answer" },
    error.rough ? paragraph(`Not from this release: the nearest is this one of ${release}.`, "quiet") : null,
    element("h3", {}, error.exception, " ", element("span", { class: "quiet" }, evidence)),
    element("p", { class: "message" }, ..._filled(error.filled)),
    element("p", {}, element("a", { class: "button", href: page(error.id) }, "Open its page")),
    ..._section("When it is raised", element("ul", {}, ...raised)),
    ..._section("Values in the log", values.length ? element("dl", {}, ...values.flatMap(_value)) : null),
    ..._section("What to change", error.hints.length ? element("ul", {}, ...error.hints.map(_item)) : null),
  );
}

function _section(title, body) {
  return body ? [element("h4", {}, title), body] : [];
}

function _item(text) {
  return element("li", {}, text);
}

function _guard({ line, text }) {
  return element("li", {}, element("code", {}, text), ` (line ${line})`);
}

function _value({ expr, value }) {
  return [element("dt", {}, element("code", {}, expr)), element("dd", {}, shortened(value, VALUE))];
}

/** A message with the values of the log in its holes. */
function _filled(pieces) {
  return pieces.map(({ text, expr, value }) => {
    if (text !== undefined) return text;
    return element("span", { class: "hole", title: expr }, value === null ? `{${expr}}` : value);
  });
}

function _row(error, where, page) {
  const text = error.filled ? error.filled.map((p) => p.text ?? p.value ?? `{${p.expr}}`).join("") : error.message;
  const [site] = error.sites ?? [error];
  return element(
    "li",
    {},
    element("a", { href: page(error.id) }, `${error.exception}: ${shortened(text, ROW)}`),
    element("span", { class: "where" }, `${site.path}:${site.line} in ${site.symbol}${where ? `, ${where}` : ""}`),
  );
}

function _where({ lines: [first, last] }) {
  return first === last ? `line ${number(first)}` : `lines ${number(first)}–${number(last)}`;
}
