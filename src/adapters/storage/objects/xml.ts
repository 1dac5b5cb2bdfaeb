import { SaxesParser } from 'saxes';
import { copyText } from '#adapters/storage/copy-text.ts';
import type { MemoryReservation } from '#core/memory-budget.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { enforceMinRate } from './enforce-min-rate.ts';
import { MarkupLimits } from './markup-limits.ts';

export interface XmlElement {
  readonly name: string;
  /** Whether its text is encoded as in a URL. Azure marks such an element with the attribute `Encoded`. */
  readonly isEncoded: boolean;
  readonly children: XmlElement[];
  text: string;
}

export interface XmlLimits {
  readonly bytes: number;
  readonly elements: number;
}

const shortDocument: XmlLimits = { bytes: 1 << 16, elements: 1000 };
const limits = { depth: 16, attributes: 20, text: 1 << 13 };
/** Limits of one child of the document element, if the children are read one by one. */
const childLimits = { elements: 1000, text: 1 << 16 };
const memoryOf = { byte: 2, element: 200 }; // estimated bytes of memory for each byte and each element of a document

const tooMuch = () => new StorageUnavailable('the service sent too much XML');

/** Builds the elements of a document. Prefixes of names are removed. */
class TreeBuilder {
  readonly top: XmlElement = { name: '', isEncoded: false, children: [], text: '' };
  /** The children with `takenName` that are complete. The reader removes them. */
  taken: XmlElement[] = [];
  elements = 0;
  readonly #parser = new SaxesParser();
  readonly #open = [this.top];
  #attributes = 0;
  readonly #takenName: string | null;
  /** Size of the child of the document element that is being read. */
  #child = { elements: 0, text: 0 };

  /** @param takenName name of the children to take from the document element; no child then stays in the tree. null: all children stay */
  constructor(maxElements: number, takenName: string | null) {
    this.#takenName = takenName;
    this.#parser.on('opentag', ({ name, attributes: { Encoded } }) => {
      this.elements += 1;
      this.#attributes = 0;
      if (this.elements > maxElements || this.#open.length > limits.depth) throw tooMuch();
      this.#countInChild(1, name.length);
      const element: XmlElement = { name: name.slice(name.indexOf(':') + 1), isEncoded: Encoded === 'true', children: [], text: '' };
      this.#open.at(-1)?.children.push(element);
      this.#open.push(element);
    });
    this.#parser.on('attribute', () => {
      this.#attributes += 1;
      if (this.#attributes > limits.attributes) throw tooMuch();
    });
    this.#parser.on('text', (text) => {
      const element = this.#open.at(-1);
      if (!element) return;
      element.text += copyText(text);
      if (element.text.length > limits.text) throw tooMuch();
      this.#countInChild(0, text.length);
    });
    this.#parser.on('closetag', () => {
      const element = this.#open.pop();
      if (takenName === null || this.#open.length !== 2) return;
      this.#open.at(-1)?.children.pop();
      if (element?.name === takenName) this.taken.push(element);
      this.#child = { elements: 0, text: 0 };
    });
    this.#parser.on('error', (cause) => {
      throw new StorageUnavailable('the service sent XML that cannot be read', { cause });
    });
  }

  #countInChild(elements: number, text: number): void {
    if (this.#takenName === null) return;
    this.#child.elements += elements;
    this.#child.text += text;
    if (this.#child.elements > childLimits.elements || this.#child.text > childLimits.text) throw tooMuch();
  }

  write(text: string): void {
    this.#parser.write(text);
  }

  close(): void {
    this.#parser.close();
  }
}

interface ReadOptions {
  readonly limits: XmlLimits;
  readonly takenName: string | null;
  readonly memory?: MemoryReservation | undefined;
}

/** Reads a response piece by piece, as it arrives: a long one must not block the event loop. Yields after each piece. */
async function* buildTree(body: AsyncIterable<Uint8Array>, monotonic: () => number, { limits: max, takenName, memory }: ReadOptions) {
  const builder = new TreeBuilder(max.elements, takenName);
  const decoder = new TextDecoder();
  const markup = new MarkupLimits();
  let bytes = 0;
  for await (const piece of enforceMinRate(body, monotonic)) {
    bytes += piece.length;
    if (bytes > max.bytes) throw tooMuch();
    memory?.set(memoryOf.byte * bytes + memoryOf.element * builder.elements);
    markup.check(piece);
    builder.write(decoder.decode(piece, { stream: true }));
    yield builder;
  }
  builder.write(decoder.decode());
  builder.close();
  yield builder;
}

/**
 * Reads a response. Unknown entities are errors, so that a response cannot grow.
 * @param monotonic ms
 * @param memory memory of the task that uses the document
 * @throws StorageUnavailable if it is not XML, comes too slowly, or exceeds a limit; StorageBusy
 */
export async function readXml(
  body: AsyncIterable<Uint8Array>,
  monotonic: () => number,
  max: XmlLimits = shortDocument,
  memory?: MemoryReservation,
): Promise<XmlElement> {
  let top: XmlElement | null = null;
  for await (const builder of buildTree(body, monotonic, { limits: max, takenName: null, memory })) top = builder.top;
  return top?.children[0] ?? { name: '', isEncoded: false, children: [], text: '' };
}

/**
 * Yields the children of the document element that have the given name, as soon as each is complete. No child stays in memory.
 * @param root name of the document element
 * @throws as `readXml`; StorageUnavailable for another document
 */
export async function* readElements(
  body: AsyncIterable<Uint8Array>,
  monotonic: () => number,
  { root, name }: { readonly root: string; readonly name: string },
  max: XmlLimits,
): AsyncGenerator<XmlElement> {
  let top: XmlElement | null = null;
  for await (const builder of buildTree(body, monotonic, { limits: max, takenName: name })) {
    ({ top } = builder);
    const { taken } = builder;
    builder.taken = [];
    yield* taken;
  }
  if (top?.children[0]?.name !== root) throw new StorageUnavailable(`the service sent a document other than ${root}`);
}

/** Returns the text of the first child with a name, or null. */
export const childText = (element: XmlElement, name: string): string | null =>
  element.children.find((child) => child.name === name)?.text ?? null;

export const childrenOf = (element: XmlElement, name: string): XmlElement[] => element.children.filter((child) => child.name === name);

/** Returns a text as XML content. Control characters become references. XML forbids some of these references, but S3 reads them. */
export const xmlText = (text: string): string => text.replace(/[&<>"\p{Cc}]/gu, (character) => `&#${character.charCodeAt(0)};`);
