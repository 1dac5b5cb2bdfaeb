import { type DomNode, parseDocument } from './xml-libraries.ts';

/** An element of a parsed document. Comments, CDATA, entities and processing instructions do not occur. */
export interface StrictElement {
  readonly namespace: string;
  readonly name: string;
  /** Values of the attributes without a namespace. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly StrictElement[];
  /** Text without surrounding spaces; null: the element contains elements, so two libraries could read different texts. */
  readonly text: string | null;
}

/** Postern does not accept the document. The message is for the operator. */
export class XmlRefused extends Error {}

/** Refuses the document. @throws XmlRefused */
export function refuse(message: string): never {
  throw new XmlRefused(message);
}

/** Refuses the document unless a condition is true. @throws XmlRefused */
export function demand(condition: boolean, message: string): void {
  if (!condition) refuse(message);
}

const [elementNode, textNode] = [1, 3]; // Node.nodeType
const maxDepth = 50;

/** Returns the elements directly in a node. */
export const elementsIn = ({ childNodes }: DomNode): DomNode[] => Array.from(childNodes).filter(({ nodeType }) => nodeType === elementNode);

/** Returns an element as plain data. */
function plainElement(node: DomNode, depth: number): StrictElement {
  demand(depth <= maxDepth, 'The XML is nested too deeply.');
  const attributes = Array.from(node.attributes ?? []).filter(({ namespaceURI }) => !namespaceURI);
  const hasTextOnly = Array.from(node.childNodes).every(({ nodeType }) => nodeType === textNode);
  return {
    namespace: node.namespaceURI ?? '',
    name: node.localName ?? '',
    attributes: new Map(attributes.map(({ name, value }) => [name, value])),
    children: elementsIn(node).map((child) => plainElement(child, depth + 1)),
    text: hasTextOnly ? (node.textContent ?? '').trim() : null,
  };
}

/** Limits of a document, which are checked before it is parsed: parsing takes time that grows faster than the document. */
export interface StrictXmlLimits {
  /** Maximum number of elements that have an end tag. An element without one, such as `<a/>`, counts half. */
  readonly elements: number;
  /** Attributes of all elements, including declarations of namespaces. */
  readonly attributes: number;
  /** Declarations of namespaces. */
  readonly namespaces: number;
}

const maxPrefixes = 50;

const countOf = (xml: string, pattern: RegExp) => xml.match(pattern)?.length ?? 0;

/**
 * Parses a document. Refuses a DOCTYPE, comment, CDATA or processing instruction: one library may read what another one ignores.
 * @throws XmlRefused
 */
export function parseStrictly(xml: string, { elements, attributes, namespaces }: StrictXmlLimits): DomNode {
  demand(!/<!|<\?(?!xml\s)/.test(xml), 'The XML has a DOCTYPE, a comment, CDATA or a processing instruction.');
  demand(countOf(xml, /</g) <= 2 * elements, 'The XML has too many elements.');
  demand(countOf(xml, /=\s*["']/g) <= attributes && countOf(xml, /xmlns/g) <= namespaces, 'The XML has too many attributes or namespaces.');
  // For each element, the canonicalization copies the prefixes that are declared around it.
  demand(new Set(xml.match(/xmlns(:[^\s=]{1,100})?/g)).size <= maxPrefixes, 'The XML declares too many prefixes.');
  return parseDocument(xml, (problem) => refuse(`The XML is not well-formed: ${problem}`));
}

/** Returns the root element of a document as plain data. @throws XmlRefused */
export function rootOf(document: DomNode): StrictElement {
  const [root, ...others] = elementsIn(document);
  return root && others.length === 0 ? plainElement(root, 1) : refuse('The XML does not have exactly one root element.');
}

/** Parses a document, and returns its root element. @throws XmlRefused */
export const parseXml = (xml: string, limits: StrictXmlLimits): StrictElement => rootOf(parseStrictly(xml, limits));

/** Returns the children of an element that have the given name. */
export const childElementsOf = ({ children }: StrictElement, namespace: string, name: string): readonly StrictElement[] =>
  children.filter((child) => child.namespace === namespace && child.name === name);

/** Returns the only child of an element that has the given name. @throws XmlRefused if there is none, or several */
export function onlyChild(element: StrictElement, namespace: string, name: string): StrictElement {
  const [child, ...others] = childElementsOf(element, namespace, name);
  return child && others.length === 0 ? child : refuse(`${element.name} does not have exactly one ${name}.`);
}

/** Returns the text of an element. @throws XmlRefused if it has elements in it */
export const elementText = ({ name, text }: StrictElement): string => text ?? refuse(`${name} contains elements, not only text.`);

/** Returns the value of an attribute, or null if it is missing or empty. */
export const attributeOf = ({ attributes }: StrictElement, name: string): string | null => attributes.get(name) || null;

/** Returns an element and all elements in it. */
export const withDescendants = (element: StrictElement): readonly StrictElement[] => [
  element,
  ...element.children.flatMap(withDescendants),
];

/** Returns the time in an attribute, in ms since the epoch; null: the attribute is missing or empty. @throws XmlRefused */
export function elementTime(element: StrictElement, name: string): number | null {
  const text = attributeOf(element, name);
  if (text === null) return null;
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? refuse(`${name} of ${element.name} is not a time in UTC.`) : time;
}
