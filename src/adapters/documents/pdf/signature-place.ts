import { PDFArray, PDFDict, PDFDocument, PDFHexString, PDFName, PDFNumber, PDFString } from '@cantoo/pdf-lib';
import { TaskRefused } from '#adapters/documents/sandbox/serve-tasks.ts';
import type { SignaturePlace, SignatureText } from '#ports/documents.ts';

const placeBytes = 24_000; // of DER: a time stamp with its certificates needs 4,000 to 8,000
const unknownNumber = 9_999_999_999; // is replaced when the positions are known
const invisible = 132; // flags of the field: printed, locked
const hasSignatures = 3; // SigFlags: there are signatures, and the file may only be appended to
const noChangesAllowed = 1; // P of a DocMDP signature (ISO 32000-1, 12.8.2.2)

/** The end of a PDF with an empty place for a signature. */
interface AppendedPlace extends Omit<SignaturePlace, 'bytes'> {
  /** How many of the first bytes are those of the original file. */
  readonly kept: number;
  /** The bytes after them. */
  readonly bytes: Uint8Array;
}

const isSigned = (bytes: Buffer) => bytes.includes('/ByteRange');

/** Returns whether the last cross-reference table is where the end of the file says. */
function hasTable(bytes: Buffer): boolean {
  const end = bytes.subarray(-2048).toString('latin1');
  const [, position] = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(end) ?? [];
  if (position === undefined) return false;
  const offset = Number(position);
  return /^\s*(?:xref\b|\d+\s+\d+\s+obj\b)/.test(bytes.subarray(offset, offset + 64).toString('latin1'));
}

/** @throws TaskRefused: `encrypted` or `damaged` */
async function load(bytes: Uint8Array, forIncrementalUpdate: boolean): Promise<PDFDocument> {
  let document: PDFDocument;
  try {
    document = await PDFDocument.load(bytes, { forIncrementalUpdate, updateMetadata: false, throwOnInvalidObject: false });
  } catch (cause) {
    throw new TaskRefused(cause instanceof Error && /encrypt/i.test(cause.message) ? 'encrypted' : 'damaged');
  }
  if (document.isEncrypted) throw new TaskRefused('encrypted');
  if (document.getPageCount() === 0) throw new TaskRefused('damaged');
  return document;
}

/** Returns whether an earlier signature forbids every change of the file. */
function isCertified({ catalog }: PDFDocument): boolean {
  const signature = catalog.lookupMaybe(PDFName.of('Perms'), PDFDict)?.lookupMaybe(PDFName.of('DocMDP'), PDFDict);
  const reference = signature?.lookupMaybe(PDFName.of('Reference'), PDFArray)?.lookupMaybe(0, PDFDict);
  const parameters = reference?.lookupMaybe(PDFName.of('TransformParams'), PDFDict);
  return parameters?.lookupMaybe(PDFName.of('P'), PDFNumber)?.asNumber() === noChangesAllowed;
}

/** Adds the dictionary of the signature, and its field, which is not seen on the page. */
function addField(document: PDFDocument, { at, reason }: SignatureText): void {
  const { context, catalog } = document;
  const page = document.getPage(0);
  const value = context.register(
    context.obj({
      ...{ Type: 'Sig', Filter: 'Adobe.PPKLite', SubFilter: 'ETSI.CAdES.detached', M: PDFString.fromDate(new Date(at)) },
      ...(reason === '' ? {} : { Reason: PDFHexString.fromText(reason) }),
      ByteRange: [0, unknownNumber, unknownNumber, unknownNumber],
      Contents: PDFHexString.of('0'.repeat(2 * placeBytes)),
    }),
  );
  const name = PDFString.of(`Signature ${at}`);
  const widget = { Type: 'Annot', Subtype: 'Widget', FT: 'Sig', T: name, V: value, Rect: [0, 0, 0, 0], F: invisible, P: page.ref };
  const field = context.register(context.obj(widget));
  const form = catalog.getOrCreateAcroForm();
  form.dict.set(PDFName.of('SigFlags'), PDFNumber.of(hasSignatures));
  form.addField(field);
  page.node.addAnnot(field);
}

/** Finds the empty place, and writes its position into the signature. @throws TaskRefused (`damaged`) */
function fillRange(file: Buffer, kept: number): { readonly start: number; readonly end: number } {
  const start = file.lastIndexOf(`<${'0'.repeat(2 * placeBytes)}>`);
  const end = start + 2 * placeBytes + 2;
  const numbers = file.lastIndexOf(`${unknownNumber} ${unknownNumber} ${unknownNumber}`, start);
  const [from, to] = [file.lastIndexOf('[', numbers), file.indexOf(']', numbers) + 1];
  if (start < kept || numbers < kept || from < kept) throw new TaskRefused('damaged');
  file.write(`[0 ${start} ${end} ${file.length - end}`.padEnd(to - from - 1).concat(']'), from, 'latin1');
  return { start, end };
}

/**
 * Appends an empty place for a signature, so that earlier signatures stay valid. A damaged file without signatures is written anew first:
 * an appended signature would not repair it.
 * @throws TaskRefused: `encrypted`, `certified` or `damaged`
 */
export async function addSignaturePlace(original: Uint8Array, text: SignatureText): Promise<AppendedPlace> {
  const bytes = Buffer.from(original.buffer, original.byteOffset, original.length);
  const isRewritten = !hasTable(bytes) && !isSigned(bytes);
  const base = isRewritten ? Buffer.from(await (await load(bytes, false)).save({ useObjectStreams: false })) : bytes;
  const document = await load(base, true);
  if (isCertified(document)) throw new TaskRefused('certified');
  addField(document, text);
  const file = Buffer.from(await document.save({ useObjectStreams: false, updateFieldAppearances: false }));
  if (!file.subarray(0, base.length).equals(base)) throw new TaskRefused('damaged');
  const kept = isRewritten ? 0 : base.length;
  return { kept, bytes: file.subarray(kept), ...fillRange(file, base.length) };
}
