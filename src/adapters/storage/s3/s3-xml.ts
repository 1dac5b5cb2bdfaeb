import { SaxesParser } from 'saxes';
import { StorageUnavailable } from '#ports/storage.ts';

/** An element of an XML document. */
export interface XmlElement {
  readonly name: string;
  readonly children: XmlElement[];
  text: string;
}

/** Parses a response. Unknown entities are errors, so that a response cannot grow. @throws StorageUnavailable if it is not XML */
export function parseXml(document: string): XmlElement {
  const top: XmlElement = { name: '', children: [], text: '' };
  const open = [top];
  const parser = new SaxesParser();
  parser.on('opentag', ({ name }) => {
    const element: XmlElement = { name, children: [], text: '' };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on('text', (text) => {
    const element = open.at(-1);
    if (element) element.text += text;
  });
  parser.on('closetag', () => void open.pop());
  parser.on('error', (cause) => {
    throw new StorageUnavailable('the service sent XML that cannot be read', { cause });
  });
  parser.write(document).close();
  return top.children[0] ?? top;
}

/** Returns the text of the first child with a name, or null. */
export const childText = (element: XmlElement, name: string): string | null =>
  element.children.find((child) => child.name === name)?.text ?? null;

/** Returns the children with a name. */
export const childrenOf = (element: XmlElement, name: string): XmlElement[] => element.children.filter((child) => child.name === name);

/** Returns a text as XML content. Control characters become references: S3 reads them, although XML cannot hold all of them. */
export const xmlText = (text: string): string => text.replace(/[&<>"\p{Cc}]/gu, (character) => `&#${character.charCodeAt(0)};`);
