import { PDFBool, PDFDict, PDFDocument, PDFName } from '@cantoo/pdf-lib';
import { dictionaryIn, itemsIn, nameIn } from './pdf-entries.ts';

/** The entry that names a layer as hidden while the pages are copied: the copy has no catalog, in which this stands otherwise. */
const hiddenEntry = PDFName.of('PosternHidden');

/** Returns whether a layer is hidden by its own usage for the screen; null: it does not say. */
function hiddenByUsage(layer: PDFDict): boolean | null {
  const usage = dictionaryIn(layer, 'Usage');
  const view = usage && dictionaryIn(usage, 'View');
  return view && nameIn(view, 'ViewState') === 'OFF';
}

/** Returns the layers of a document that its default configuration hides on the screen (ISO 32000-1, 8.11.4.3). */
function hiddenLayers(document: PDFDocument): PDFDict[] {
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
  return itemsIn(properties, 'OCGs').flatMap((ref) => {
    const layer = document.context.lookup(ref);
    if (!(layer instanceof PDFDict)) return [];
    const isHidden = off.has(ref) || (isHiddenFirst && !on.has(ref));
    return ((automatic.has(ref) ? hiddenByUsage(layer) : null) ?? isHidden) ? [layer] : [];
  });
}

/** Removes the annotations of hidden layers: they become a part of their pages when those are copied. */
function removeHiddenAnnotations(document: PDFDocument): void {
  for (const page of document.getPages()) {
    const annotations = page.node.Annots();
    if (!annotations) continue;
    for (let index = annotations.size() - 1; index >= 0; index -= 1) {
      const annotation = annotations.lookup(index);
      const layer = annotation instanceof PDFDict ? annotation.lookup(PDFName.of('OC')) : undefined;
      if (layer instanceof PDFDict && layer.has(hiddenEntry)) annotations.remove(index);
    }
  }
}

/** Returns whether copied pages have layers. PDFium writes dictionaries without compression. */
export const hasLayers = (pages: Uint8Array) => Buffer.from(pages.buffer, pages.byteOffset, pages.byteLength).includes('/OCG');

/** Returns the document with a note in each hidden layer, which stays when PDFium copies the pages. @param bytes written by PDFium */
export async function noteHiddenLayers(bytes: Uint8Array): Promise<Uint8Array> {
  const document = await PDFDocument.load(bytes, { updateMetadata: false, password: '' });
  for (const layer of hiddenLayers(document)) layer.set(hiddenEntry, PDFBool.True);
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
