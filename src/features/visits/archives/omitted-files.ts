import { numberedName } from '#core/item-path.ts';

const noteName = 'Files left out.txt';
const noteBeginning = 'files left out';
const maxNames = 1000;
const maxLength = 1 << 17; // characters of all lines

/** Why an archive leaves a file out. */
export type OmissionReason = 'cannotBeMarked' | 'cannotBeSigned' | 'documentTooLarge';

/** The sentence about a file, for each reason. */
export const omissionReasons: Readonly<Record<OmissionReason, string>> = {
  cannotBeMarked: 'It cannot be watermarked: it is neither a PDF file nor an image, or it is damaged or encrypted.',
  cannotBeSigned: 'It cannot be signed: it is damaged or encrypted, or a signature in it forbids every change.',
  documentTooLarge: 'It is too large, or takes too long to watermark or to sign.',
};

/** The files that an archive leaves out, and the text file in the archive that names them, up to a limit. */
export class OmittedFiles {
  readonly #lines: string[] = [];
  #length = 0;
  #count = 0;
  /** Names of items that begin like the name of the text file, in lower case. */
  readonly #similarNames = new Set<string>();

  /** @param name path in the archive */
  add(name: string, reason: OmissionReason): void {
    this.#count += 1;
    const line = `${name}\r\n  ${omissionReasons[reason]}\r\n`;
    if (this.#lines.length === maxNames || this.#length + line.length > maxLength) return;
    this.#lines.push(line);
    this.#length += line.length;
  }

  /** Notes an item of the archive, so that the text file does not get the same name. @param name path in the archive */
  noteItem(name: string): void {
    const lowerName = name.replace(/\/$/, '').toLowerCase();
    if (!lowerName.includes('/') && lowerName.startsWith(noteBeginning)) this.#similarNames.add(lowerName);
  }

  /** Returns the text file, or null if no file is left out. */
  note(): { readonly name: string; readonly text: Buffer } | null {
    if (this.#count === 0) return null;
    const more = this.#count - this.#lines.length;
    const lines = ['These files are not in this archive:\r\n', ...this.#lines, ...(more > 0 ? [`and ${more} more.\r\n`] : [])];
    return { name: this.#freeName(), text: Buffer.from(lines.join('\r\n')) };
  }
  #freeName(): string {
    const isFree = (name: string) => !this.#similarNames.has(name.toLowerCase());
    if (isFree(noteName)) return noteName;
    let name = numberedName(noteName, 'Postern');
    for (let number = 2; !isFree(name); number += 1) name = numberedName(noteName, `Postern ${number}`);
    return name;
  }
}
