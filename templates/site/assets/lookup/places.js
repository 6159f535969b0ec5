/** Owns what the frames of a traceback say for a site, or against all of them; see `extractor/match/places.py`. */

import { places as table } from "./tables.js";
import { behindLast, count } from "./strings.js";

const { FADE, FAR, LAST, MOST, MOVED, NAME, PLACES, SAME_NAME, SOURCE, SOURCE_LENGTH } = table;

/** Whether the last frame shows that other code raised it. */
export function foreign(raised) {
  return Boolean(raised && raised.final && raised.frames.length && vllmPath(raised.frames.at(-1).path) === null);
}

/** The part of a file's path that begins in vLLM's tree; null for files of others. */
export function vllmPath(path) {
  path = path.replaceAll("\\", "/");
  for (const packages of ["site-packages/", "dist-packages/"]) {
    if (path.includes(packages)) {
      path = path.slice(path.lastIndexOf(packages) + packages.length);
      return path.startsWith("vllm/") || path.startsWith("vllm_") ? path : null;
    }
  }
  const checkout = path.indexOf("vllm/vllm/");
  if (checkout >= 0) return path.slice(checkout + 5);
  if (path.startsWith("vllm/")) return path;
  const at = path.lastIndexOf("/vllm/");
  return at >= 0 ? path.slice(at + 1) : null;
}

/** Whether the last frames may speak for one of a shape's errors: a quick look before a close one. */
export function near(frames, shape, lexicon) {
  const last = frames.slice(-LAST);
  const names = [...last.map((f) => behindLast(f.path, "/")), ...last.map((f) => f.function).filter(Boolean)];
  return shape.errors.some(([number]) => names.some((name) => lexicon.names(number).has(name)));
}

/** [the site that the frames speak for most, how much they do]; frames further out count less. */
export function bestSite(sites, frames, name) {
  let best = Math.max(0, sites.findIndex((site) => behindLast(site.exception, ".") === name));
  let most = 0;
  const last = frames.slice(-LAST).reverse();
  sites.forEach((site, i) => {
    last.forEach((frame, depth) => {
      const support = supports(site, frame) / (1 + depth);
      if (support > most) [best, most] = [i, support];
    });
  });
  return [best, most];
}

/** What one frame says for a site: path, then function, then line; files move, so a name alone counts too. */
export function supports(site, frame) {
  const path = `/${frame.path}`.endsWith(`/${site.path}`) ? site.path : vllmPath(frame.path);
  if (path === null) return 0;
  const own = behindLast(site.symbol, ".");
  if (frame.code && frame.code === site.code && site.code.length > SOURCE_LENGTH) {
    return Math.min(MOST, _supports(site, frame, path, own) + SOURCE);
  }
  return _supports(site, frame, path, own);
}

function _supports(site, frame, path, own) {
  const name = behindLast(frame.function, ".");
  const sameFunction = frame.function !== "" && name !== "<module>" && name !== "__init__" && name === own;
  if (path === site.path) {
    if (!sameFunction && !(frame.function && own.startsWith(frame.function))) {
      return !frame.function || frame.function !== own ? PLACES.file : PLACES.function;
    }
    if (site.line <= frame.line && frame.line <= site.endLine) return PLACES.line;
    const away = Math.min(Math.abs(frame.line - site.line), FAR);
    return PLACES.function + (PLACES.line - PLACES.function) * FADE * (1 - away / FAR);
  }
  const sameFile = behindLast(path, "/") === behindLast(site.path, "/");
  if (sameFunction) return MOVED + (sameFile ? SAME_NAME : 0);
  return sameFile && count(path, "/") > 1 ? NAME : 0;
}
