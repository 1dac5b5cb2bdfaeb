import { PDFArray, PDFBool, PDFDict, PDFDocument, PDFName, type PDFObject } from '@cantoo/pdf-lib';
import { dictionaryIn, itemsIn, nameIn } from './pdf-entries.ts';

/** The entry that names a layer as hidden while the pages are copied: the copy has no catalog, in which this stands otherwise. */
const hiddenEntry = PDFName.of('PosternHidden');

/** Returns whether a layer is hidden by its own usage for the screen; null: it does not say. */
function hiddenByUsage(layer: PDFDict): boolean | null {
  const usage = dictionaryIn(layer, 'Usage');
  const view = usage && dictionaryIn(usage, 'View');
  return view && nameIn(view, 'ViewState') === 'OFF';
}

/** Returns all layers of a document: those that it lists, and those that are used without being listed. */
function layersOf(document: PDFDocument, configuration: PDFDict, listed: readonly PDFObject[]): readonly (readonly [PDFObject, PDFDict])[] {
  const named = new Set([...listed, ...itemsIn(configuration, 'ON'), ...itemsIn(configuration, 'OFF')]);
  return document.context
    .enumerateIndirectObjects()
    .flatMap(([ref, object]) =>
      object instanceof PDFDict && (named.has(ref) || nameIn(object, 'Type') === 'OCG') ? [[ref, object] as const] : [],
    );
}

/** Returns the layers of a document, and whether its default configuration hides them on the screen (ISO 32000-1, 8.11.4.3). */
function findLayers(document: PDFDocument): readonly { readonly layer: PDFDict; readonly isHidden: boolean }[] {
  const properties = dictionaryIn(document.catalog, 'OCProperties');
  const configuration = properties && dictionaryIn(properties, 'D');
  if (!configuration) return [];
  const [on, off] = [new Set(itemsIn(configuration, 'ON')), new Set(itemsIn(configuration, 'OFF'))];
  const isHiddenFirst = nameIn(configuration, 'BaseState') === 'OFF';
  const automatic = new Set(
    itemsIn(configuration, 'AS')
      .map((usage) => document.context.lookup(usage))
      .flatMap((usage) => (usage instanceof PDFDict && nameIn(usage, 'Event') === 'View' ? itemsIn(usage, 'OCGs') : [])),
  );
  return layersOf(document, configuration, itemsIn(properties, 'OCGs')).map(([ref, layer]) => {
    const isHidden = off.has(ref) || (isHiddenFirst && !on.has(ref));
    return { layer, isHidden: (automatic.has(ref) ? hiddenByUsage(layer) : null) ?? isHidden };
  });
}

const maxDepth = 32; // of a visibility expression

/** Evaluates a visibility expression (ISO 32000-1, 8.11.2.2). */
function isExpressionTrue(expression: PDFObject | undefined, depth = 0): boolean {
  if (expression instanceof PDFDict) return isVisible(expression);
  if (!(expression instanceof PDFArray) || depth > maxDepth) return true;
  const [operator, ...operands] = expression.asArray().map((_, index) => expression.lookup(index));
  const values = operands.map((operand) => isExpressionTrue(operand, depth + 1));
  switch (operator instanceof PDFName ? operator.decodeText() : '') {
    case 'And':
      return values.every(Boolean);
    case 'Or':
      return values.some(Boolean);
    case 'Not':
      return !values[0];
    default:
      return true;
  }
}

/** Returns whether a layer is seen, or content that depends on several layers. The hidden layers have their notes. */
function isVisible(layer: PDFDict): boolean {
  if (nameIn(layer, 'Type') !== 'OCMD') return !layer.has(hiddenEntry);
  if (layer.has(PDFName.of('VE'))) return isExpressionTrue(layer.lookup(PDFName.of('VE')));
  const single = dictionaryIn(layer, 'OCGs');
  const members = single ? [single] : itemsIn(layer, 'OCGs').map((item) => layer.context.lookup(item));
  const seen = members.flatMap((member) => (member instanceof PDFDict ? [isVisible(member)] : []));
  if (seen.length === 0) return true;
  switch (nameIn(layer, 'P')) {
    case 'AllOn':
      return seen.every(Boolean);
    case 'AnyOff':
      return !seen.every(Boolean);
    case 'AllOff':
      return !seen.some(Boolean);
    default:
      return seen.some(Boolean);
  }
}

/** Removes the annotations that hidden layers hide: PDFium would draw them. */
function removeHiddenAnnotations(document: PDFDocument): void {
  for (const page of document.getPages()) {
    const annotations = page.node.Annots();
    if (!annotations) continue;
    for (let index = annotations.size() - 1; index >= 0; index -= 1) {
      const annotation = annotations.lookup(index);
      const layer = annotation instanceof PDFDict ? dictionaryIn(annotation, 'OC') : null;
      if (layer && !isVisible(layer)) annotations.remove(index);
    }
  }
}

const contains = (pdf: Uint8Array, name: string) => Buffer.from(pdf.buffer, pdf.byteOffset, pdf.byteLength).includes(name);

/** Returns whether copied pages may have layers. PDFium writes dictionaries without compression. */
export const mayHaveLayers = (pages: Uint8Array) => contains(pages, '/OC') || contains(pages, '/Properties');

/** Returns whether a document has layers. @param document written by PDFium */
export const hasLayers = (document: Uint8Array) => contains(document, '/OCProperties');

/**
 * Returns the document without the annotations of hidden layers, and with a note in each hidden layer, which stays when PDFium copies the
 * pages.
 * @param bytes written by PDFium
 */
export async function noteHiddenLayers(bytes: Uint8Array): Promise<Uint8Array> {
  const document = await PDFDocument.load(bytes, { updateMetadata: false, password: '' });
  for (const { layer, isHidden } of findLayers(document)) {
    layer.set(PDFName.of('Type'), PDFName.of('OCG')); // some programs leave it out
    if (isHidden) layer.set(hiddenEntry, PDFBool.True);
  }
  removeHiddenAnnotations(document);
  return document.save({ useObjectStreams: false, addDefaultPage: false });
}

/** Adds the layers of copied pages to the catalog, so that hidden ones stay hidden. */
export function restoreLayers(document: PDFDocument): void {
  const { context } = document;
  const layers = context
    .enumerateIndirectObjects()
    .flatMap(([ref, object]) => (object instanceof PDFDict && nameIn(object, 'Type') === 'OCG' ? [{ ref, object }] : []));
  if (layers.length === 0) return;
  const hidden = layers.filter(({ object }) => object.delete(hiddenEntry)).map(({ ref }) => ref);
  const all = layers.map(({ ref }) => ref);
  const configuration = context.obj({ Order: all, OFF: hidden });
  document.catalog.set(PDFName.of('OCProperties'), context.obj({ OCGs: all, D: configuration }));
}
