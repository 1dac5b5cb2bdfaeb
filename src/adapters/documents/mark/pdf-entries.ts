import { PDFArray, PDFDict, PDFName, type PDFObject } from '@cantoo/pdf-lib';

/** Returns the name in an entry; null: the entry is missing or of another type. */
export function nameIn(dictionary: PDFDict, entry: string): string | null {
  const value = dictionary.lookup(PDFName.of(entry));
  return value instanceof PDFName ? value.decodeText() : null;
}

/** Returns the dictionary in an entry; null: the entry is missing or of another type. */
export function dictionaryIn(dictionary: PDFDict, entry: string): PDFDict | null {
  const value = dictionary.lookup(PDFName.of(entry));
  return value instanceof PDFDict ? value : null;
}

/** Returns the items of an array in an entry, without resolving references. Empty: the entry is missing or of another type. */
export function itemsIn(dictionary: PDFDict, entry: string): readonly PDFObject[] {
  const value = dictionary.lookup(PDFName.of(entry));
  return value instanceof PDFArray ? value.asArray() : [];
}
