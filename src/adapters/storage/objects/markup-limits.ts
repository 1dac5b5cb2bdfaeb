import { StorageUnavailable } from '#ports/storage-errors.ts';

const maxTag = 512; // bytes, attributes included
const maxText = 1 << 15; // bytes between two tags: enough for a key of 1,024 bytes, encoded for URLs and as XML
const [less, greater, exclamation] = [0x3c, 0x3e, 0x21];

/**
 * Checks pieces of XML before a parser reads them. The parser would keep attributes, comments and CDATA sections of any length in memory,
 * and would take long for some of them.
 */
export class MarkupLimits {
  #isInTag = false;
  #length = 0; // of the tag or text so far

  /** @throws StorageUnavailable */
  check(piece: Uint8Array): void {
    for (let position = 0; position < piece.length; ) {
      const index = piece.indexOf(this.#isInTag ? greater : less, position);
      const end = index < 0 ? piece.length : index;
      if (this.#isInTag && this.#length === 0 && piece[position] === exclamation) throw refusal();
      this.#length += end - position;
      if (this.#length > (this.#isInTag ? maxTag : maxText)) throw refusal();
      position = end + 1;
      if (index < 0) return;
      this.#isInTag = !this.#isInTag;
      this.#length = 0;
    }
  }
}

const refusal = () => new StorageUnavailable('the service sent a tag or text that is too long, a comment, a CDATA section or a DOCTYPE');
