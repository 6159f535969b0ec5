/** Owns the choices that narrow a search: a list for each facet, with how many errors each value leaves. */

import { element } from "./view.js";

const ANY = { exception: "any exception", package: "any package", status: "any HTTP status" };

/** Fills the lists of a form with what an answer counts; a value that is chosen stays in its list. */
export function fill(form, facets, chosen) {
  for (const [name, counts] of Object.entries(facets)) {
    const list = form.elements[name];
    const there = counts.some(([value]) => value === chosen[name]);
    const all = chosen[name] && !there ? [[chosen[name], 0], ...counts] : counts;
    list.replaceChildren(
      element("option", { value: "" }, ANY[name]),
      ...all.map(([value, count]) => element("option", { value }, `${value} (${count})`)),
    );
    list.value = chosen[name];
    list.disabled = !all.length;
  }
}
