/** Owns what Python's text can do and JavaScript's cannot: searching within bounds, taking given characters off. */

const ALNUM = /[\p{L}\p{N}]/u;

/** The first place of `sought` within [start, end), or -1. */
export function find(text, sought, start, end) {
  const at = text.slice(start, end).indexOf(sought);
  return at < 0 ? -1 : at + start;
}

/** The last place of `sought` within [start, end), or -1. */
export function rfind(text, sought, start, end) {
  const at = text.slice(start, end).lastIndexOf(sought);
  return at < 0 ? -1 : at + start;
}

/** How often a text that does not overlap itself is in [start, end). */
export function count(text, part, start = 0, end = text.length) {
  let found = 0;
  for (let at = text.indexOf(part, start); at >= 0 && at + part.length <= end; at = text.indexOf(part, at + 1)) found++;
  return found;
}

/** Text without any of `characters` at its end. */
export function rstrip(text, characters) {
  let end = text.length;
  while (end && characters.includes(text[end - 1])) end--;
  return text.slice(0, end);
}

/** Text without any of `characters` at its start. */
export function lstrip(text, characters) {
  let start = 0;
  while (start < text.length && characters.includes(text[start])) start++;
  return text.slice(start);
}

/** Text without any of `characters` on either side. */
export function strip(text, characters) {
  return lstrip(rstrip(text, characters), characters);
}

/** The words of a text with `glue` between them. */
export function rejoined(text, glue = " ") {
  return text.trim().replace(/\s+/g, glue);
}

/** Whether there is a letter or a digit in a text. */
export function hasAlnum(text) {
  return ALNUM.test(text);
}

/** What stands behind the last `mark`, or all. */
export function behindLast(text, mark) {
  return text.slice(text.lastIndexOf(mark) + 1);
}

/** How many of the sorted `numbers` are at most `value`. */
export function bisectRight(numbers, value) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value < numbers[middle]) high = middle;
    else low = middle + 1;
  }
  return low;
}
