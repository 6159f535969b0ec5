// Owns the little that pages do beyond being read: light and dark, copying, and Escape for explanations.
"use strict";

(() => {
  const KEY = "vllm-errors-theme";
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");

  const remembered = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // storage is refused: the choice holds for this page
    }
  };

  const remember = (theme) => {
    try {
      if (theme === null) localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, theme);
    } catch {
      // as above
    }
  };

  const system = () => (dark.matches ? "dark" : "light");
  const current = () => root.dataset.theme ?? system();

  // before the first paint
  const chosen = remembered();
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;

  const setUpTheme = () => {
    const button = document.querySelector("button.theme");
    if (button === null) return;
    const label = () => {
      button.textContent = current() === "dark" ? "Light" : "Dark";
    };
    button.addEventListener("click", () => {
      const next = current() === "dark" ? "light" : "dark";
      if (next === system()) delete root.dataset.theme; // follows the system again
      else root.dataset.theme = next;
      remember(next === system() ? null : next);
      label();
    });
    dark.addEventListener("change", label);
    label();
    button.hidden = false;
  };

  const setUpCopying = () => {
    if (!navigator.clipboard) return;
    const said = document.createElement("p");
    said.className = "visually-hidden";
    said.setAttribute("role", "status");
    document.body.append(said);
    for (const button of document.querySelectorAll("button[data-copy], button[data-copy-address]")) {
      const label = button.textContent;
      let timer = 0;
      button.hidden = false;
      button.addEventListener("click", async () => {
        const address = button.dataset.copyAddress;
        const text = address === undefined ? button.dataset.copy : new URL(address, location.href).href;
        let word = "Copied";
        try {
          await navigator.clipboard.writeText(text);
        } catch {
          word = "Not allowed";
        }
        button.textContent = word;
        said.textContent = word;
        clearTimeout(timer);
        timer = setTimeout(() => {
          button.textContent = label;
          said.textContent = "";
        }, 2000);
      });
    }
  };

  document.addEventListener("keydown", (event) => {
    const hole = document.activeElement;
    if (event.key !== "Escape") return;
    if (hole?.classList.contains("hole")) hole.blur();
    for (const hovered of document.querySelectorAll(".hole:hover")) hovered.classList.add("dismissed");
  });
  document.addEventListener("pointerover", (event) => {
    for (const hole of document.querySelectorAll(".dismissed")) {
      if (!hole.contains(event.target)) hole.classList.remove("dismissed");
    }
  });

  document.addEventListener("DOMContentLoaded", () => {
    setUpTheme();
    setUpCopying();
  });
})();
