import { SaxesParser } from 'saxes';
import type { TakenMemory } from '#adapters/storage/memory-budget.ts';
import { StorageUnavailable } from '#ports/storage.ts';
import { fastEnough } from './fast-enough.ts';
import { MarkupLimits } from './markup-limits.ts';

/** An element of an XML document. */
export interface XmlElement {
  readonly name: string;
  /** Whether its text is encoded as in a URL, as Azure marks it with the attribute `Encoded`. */
  readonly isEncoded: boolean;
  readonly children: XmlElement[];
  text: string;
}

/** Limits of one document. */
export interface XmlLimits {
  readonly bytes: number;
  readonly elements: number;
}

const shortDocument: XmlLimits = { bytes: 1 << 16, elements: 1000 };
const limits = { depth: 16, attributes: 20, text: 1 << 13 };
const memoryOf = { byte: 2, element: 200 }; // bytes of texts and objects

/** Returns a copy of a text: a part of a longer text would keep all of it in memory. */
const copyText = (text: string) => Buffer.from(text).toString();

/**
 * Reads a response piece by piece, as it arrives: a long one must not block the event loop. Unknown entities are errors, so that a
 * response cannot grow.
 * @param monotonic ms
 * @param memory of the work that uses the document
 * @throws StorageUnavailable if it is not XML, comes too slowly, or exceeds a limit; StorageBusy
 */
export async function readXml(
  body: AsyncIterable<Uint8Array>,
  monotonic: () => number,
  { bytes: maxBytes, elements: maxElements }: XmlLimits = shortDocument,
  memory?: TakenMemory,
): Promise<XmlElement> {
  const top: XmlElement = { name: '', isEncoded: false, children: [], text: '' };
  const open = [top];
  let [elements, attributes, bytes] = [0, 0, 0];
  const tooMuch = () => new StorageUnavailable('the service sent too much XML');
  const parser = new SaxesParser();
  parser.on('opentag', ({ name, attributes: { Encoded } }) => {
    elements += 1;
    attributes = 0;
    if (elements > maxElements || open.length > limits.depth) throw tooMuch();
    const element: XmlElement = { name, isEncoded: Encoded === 'true', children: [], text: '' };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on('attribute', () => {
    attributes += 1;
    if (attributes > limits.attributes) throw tooMuch();
  });
  parser.on('text', (text) => {
    const element = open.at(-1);
    if (!element) return;
    element.text += copyText(text);
    if (element.text.length > limits.text) throw tooMuch();
  });
  parser.on('closetag', () => void open.pop());
  parser.on('error', (cause) => {
    throw new StorageUnavailable('the service sent XML that cannot be read', { cause });
  });
  const decoder = new TextDecoder();
  const markup = new MarkupLimits();
  for await (const piece of fastEnough(body, monotonic)) {
    bytes += piece.length;
    if (bytes > maxBytes) throw tooMuch();
    memory?.set(memoryOf.byte * bytes + memoryOf.element * elements);
    markup.check(piece);
    parser.write(decoder.decode(piece, { stream: true }));
  }
  parser.write(decoder.decode()).close();
  return top.children[0] ?? top;
}

/** Returns the text of the first child with a name, or null. */
export const childText = (element: XmlElement, name: string): string | null =>
  element.children.find((child) => child.name === name)?.text ?? null;

/** Returns the children with a name. */
export const childrenOf = (element: XmlElement, name: string): XmlElement[] => element.children.filter((child) => child.name === name);

/** Returns a text as XML content. Control characters become references: S3 reads them, although XML cannot hold all of them. */
export const xmlText = (text: string): string => text.replace(/[&<>"\p{Cc}]/gu, (character) => `&#${character.charCodeAt(0)};`);
