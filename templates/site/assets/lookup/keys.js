/** Owns the keyboard: `/` goes to the box, arrows through the results, Enter opens, Escape closes. */

/**
 * Listens on the page.
 * @param {{box: HTMLTextAreaElement, results: HTMLElement, close: () => void, single: () => boolean}} parts
 *   `single`: the box holds one line, in which up, down and Enter mean nothing else
 */
export function listen({ box, results, close, single }) {
  const links = () => [...results.querySelectorAll("a")];
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const at = links().indexOf(document.activeElement);
    const inBox = document.activeElement === box;
    if (event.key === "/" && !inBox && !_writes(document.activeElement)) box.focus();
    else if (event.key === "Escape" && (inBox || at >= 0)) close();
    else if (event.key === "Enter" && inBox && single() && links().length) links()[0].click();
    else if (event.key === "ArrowDown" && inBox && single() && links().length) links()[0].focus();
    else if (event.key === "ArrowDown" && at >= 0) links()[at + 1]?.focus();
    else if (event.key === "ArrowUp" && at >= 0) (links()[at - 1] ?? box).focus();
    else return;
    event.preventDefault();
  });
}

function _writes(active) {
  return active?.matches("input, textarea, select, [contenteditable]") ?? false;
}
