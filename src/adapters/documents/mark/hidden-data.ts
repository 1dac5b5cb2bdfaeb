import { PDFArray, type PDFContext, PDFDict, type PDFDocument, PDFName, type PDFObject, PDFRef, PDFStream } from '@cantoo/pdf-lib';
import { dictionaryIn, nameIn } from './pdf-entries.ts';

/** The entries of a page that stay (ISO 32000-1, table 30). Others hold annotations, scripts, a thumbnail or data of other programs. */
const pageEntries = new Set(['Type', 'Parent', 'MediaBox', 'CropBox', 'Rotate', 'UserUnit', 'Group', 'Resources', 'Contents']);

/** Entries of any dictionary that hold data which is not drawn: of other programs, about the document, or other versions of an image. */
const privateEntries = ['AF', 'Alternates', 'LastModified', 'Metadata', 'OPI', 'PieceInfo', 'Ref', 'StructParent', 'StructParents'];

const layerTypes = new Set(['OCG', 'OCMD']);
const layerEntries = new Set(['Type', 'Name', 'Intent', 'OCGs', 'P', 'VE']);

function removeEntries(dictionary: PDFDict, isRemoved: (name: string) => boolean): void {
  for (const key of dictionary.keys()) if (isRemoved(key.decodeText())) dictionary.delete(key);
}

const typeOf = (dictionary: PDFDict) => nameIn(dictionary, 'Type') ?? '';

/** Empties the property lists of marked content, except those that are layers. */
function emptyProperties(resources: PDFDict): void {
  const properties = dictionaryIn(resources, 'Properties');
  if (!properties) return;
  for (const key of properties.keys()) {
    const list = properties.lookup(key);
    if (list instanceof PDFDict && layerTypes.has(typeOf(list))) continue;
    properties.set(key, properties.context.obj({}));
  }
}

/** Removes what is not drawn from a dictionary. */
function cleanDictionary(dictionary: PDFDict): void {
  const type = typeOf(dictionary);
  if (type === 'Page') removeEntries(dictionary, (name) => !pageEntries.has(name));
  if (layerTypes.has(type)) removeEntries(dictionary, (name) => !layerEntries.has(name));
  for (const entry of privateEntries) dictionary.delete(PDFName.of(entry));
  if (dictionary.has(PDFName.of('Properties'))) emptyProperties(dictionary);
}

/** Returns the objects to which an object refers or which it contains. */
function partsOf(object: PDFObject): readonly PDFObject[] {
  if (object instanceof PDFStream) return [object.dict];
  if (object instanceof PDFDict) return object.values();
  return object instanceof PDFArray ? object.asArray() : [];
}

/** Cleans every object that can be reached from `start`. @returns the references that were found */
function cleanReachable(context: PDFContext, start: readonly PDFObject[]): ReadonlySet<PDFRef> {
  const found = new Set<PDFRef>();
  const remaining = [...start];
  for (let object = remaining.pop(); object !== undefined; object = remaining.pop()) {
    if (object instanceof PDFRef) {
      if (found.has(object)) continue;
      found.add(object);
      const target = context.lookup(object);
      if (target) remaining.push(target);
      continue;
    }
    if (object instanceof PDFDict) cleanDictionary(object);
    for (const part of partsOf(object)) remaining.push(part);
  }
  return found;
}

/**
 * Removes what is not drawn from a document: annotations, scripts, thumbnails, metadata, data of other programs, and every object to which
 * nothing refers any more.
 */
export function removeHiddenData({ context }: PDFDocument): void {
  const { Root, Info } = context.trailerInfo;
  const reachable = cleanReachable(
    context,
    [Root, Info].filter((object) => object !== undefined),
  );
  for (const [ref] of context.enumerateIndirectObjects()) if (!reachable.has(ref)) context.delete(ref);
}
