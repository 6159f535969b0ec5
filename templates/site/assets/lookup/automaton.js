/**
 * Owns finding which of ten thousand blocks are where in a text, in one pass and in the order in which they end.
 *
 * The command line has Aho and Corasick's automaton; its table of states would take longer to make here than a search
 * takes. Blocks are kept by their last letters instead: a number made of the last six is looked up at each letter.
 */

const BITS = 16;

/** Blocks by their last letters. */
export class Automaton {
  /**
   * @param {string[]} blocks each of at least `letters` letters
   * @param {number} letters 6: five bits of each make a number of thirty
   */
  constructor(blocks, letters) {
    this.blocks = blocks;
    this.heads = new Int32Array(1 << BITS).fill(-1);
    this.next = new Int32Array(blocks.length);
    this.keys = new Int32Array(blocks.length);
    this.mask = 2 ** (5 * letters) - 1;
    const longestLast = blocks.map((_, n) => n).sort((a, b) => blocks[a].length - blocks[b].length);
    for (const n of longestLast) {
      const block = blocks[n];
      let key = 0;
      for (let i = block.length - letters; i < block.length; i++) key = this._step(key, block.charCodeAt(i));
      this.keys[n] = key;
      this.next[n] = this.heads[this._slot(key)];
      this.heads[this._slot(key)] = n;
    }
  }

  _step(key, code) {
    return ((key << 5) ^ code) & this.mask;
  }

  _slot(key) {
    return Math.imul(key, 0x9e3779b1) >>> (32 - BITS);
  }

  /**
   * Calls back with (offset of a block's last letter, block) for each that is there, longest first where several end.
   * @param {string} chars
   * @param {(end: number, block: number) => void} found
   */
  each(chars, found) {
    const { blocks, heads, keys, next } = this;
    let key = 0;
    for (let end = 0; end < chars.length; end++) {
      key = this._step(key, chars.charCodeAt(end));
      for (let n = heads[this._slot(key)]; n >= 0; n = next[n]) {
        const start = end + 1 - blocks[n].length;
        if (keys[n] === key && start >= 0 && chars.startsWith(blocks[n], start)) found(end, n);
      }
    }
  }
}
