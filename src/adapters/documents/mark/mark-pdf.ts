import { deflateSync } from 'node:zlib';
import {
  decodePDFRawStream,
  PDFArray,
  type PDFContext,
  type PDFDict,
  PDFDocument,
  PDFName,
  type PDFPage,
  PDFRawStream,
  type PDFRef,
} from '@cantoo/pdf-lib';
import { TaskRefused } from '#adapters/documents/sandbox/serve-tasks.ts';
import { traceOpacity } from '#adapters/documents/trace/paint-trace.ts';
import { cellsPerSide, tileSize, traceTile } from '#adapters/documents/trace/trace-tile.ts';
import type { PageSize } from '#ports/documents.ts';
import { removeHiddenData } from './hidden-data.ts';
import { restoreLayers } from './layers.ts';
import { type Matrix, markPlaces, pageMatrix } from './mark-layout.ts';
import type { OutlineStep, TextOutline } from './text-outline.ts';

const operators = { M: 'm', L: 'l', C: 'c', Z: 'h' } as const;
const number = (value: number) => Number(value.toFixed(4)).toString();
const stepOperator = ({ operator, coordinates }: OutlineStep) => [...coordinates.map(number), operators[operator]].join(' ');
const matrixOperator = (matrix: Matrix) => `${matrix.map(number).join(' ')} cm`;

// White with a dark edge, so that the mark is visible on any background.
const drawnMark = '/G gs 1 g 0 G 0.03 w';
const newline = Buffer.from('\n');
const filterEntries = ['Filter', 'DecodeParms'].map((entry) => PDFName.of(entry));
const opacities = { ca: 0.45, CA: 0.35 };

/** Registers the outline of a mark as a form. */
function registerLine(context: PDFContext, { steps, width }: TextOutline): PDFRef {
  const content = [...steps.map(stepOperator), 'B'].join('\n');
  return context.register(context.flateStream(content, { Type: 'XObject', Subtype: 'Form', BBox: [-1, -2, width + 1, 3] }));
}

/** Registers the tile of a trace mark as an image with one bit for each cell. */
function registerTile(context: PDFContext, traceId: number): PDFRef {
  const bits = new Uint8Array((cellsPerSide * cellsPerSide) / 8);
  for (const [cell, value] of traceTile(traceId).entries()) if (value > 0) bits[cell >> 3] = (bits[cell >> 3] ?? 0) | (0x80 >> (cell & 7));
  const dictionary = { Type: 'XObject', Subtype: 'Image', Width: cellsPerSide, Height: cellsPerSide };
  return context.register(context.flateStream(bits, { ...dictionary, ColorSpace: 'DeviceGray', BitsPerComponent: 1 }));
}

const maxSidesRatio = 20;
/** A very long page gets no trace mark: it would have very many tiles. */
const hasUsualShape = ({ width, height }: PageSize) => Math.max(width, height) <= maxSidesRatio * Math.min(width, height);

/** Returns the operators that draw the tiles of a trace mark, from the upper left corner of a page. */
function tileOperators(size: PageSize): string[] {
  const side = tileSize(size);
  const [columns, rows] = [Math.ceil(size.width / side), Math.ceil(size.height / side)];
  return Array.from({ length: columns * rows }, (_, index) => {
    const [column, row] = [index % columns, Math.floor(index / columns)];
    return `q ${matrixOperator([side, 0, 0, side, column * side, size.height - (row + 1) * side])} /T Do Q`;
  });
}

/** Registers a form with the marks of a page. @param size of the page as it is seen, in points */
function registerMarks(context: PDFContext, mark: TextOutline, line: PDFRef, size: PageSize, tile: PDFRef | null): PDFRef {
  const places = markPlaces(mark, size).map((place) => `q ${matrixOperator(place)} /L Do Q`);
  const dictionary = {
    ...{ Type: 'XObject', Subtype: 'Form', BBox: [0, 0, size.width, size.height] },
    Resources: { XObject: { L: line, ...(tile ? { T: tile } : {}) }, ExtGState: { G: opacities, T: { ca: traceOpacity } } },
  };
  const tiles = tile && hasUsualShape(size) ? ['/T gs', ...tileOperators(size)] : [];
  return context.register(context.flateStream([...tiles, drawnMark, ...places].join('\n'), dictionary));
}

/** Returns a PDF of one page with only the marks. @param size in points */
export async function marksAlone(mark: TextOutline, size: PageSize): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const { context } = document;
  const page = document.addPage([size.width, size.height]);
  page.node.setXObject(PDFName.of('W'), registerMarks(context, mark, registerLine(context, mark), size, null));
  page.node.addContentStream(context.register(context.flateStream('/W Do')));
  return document.save();
}

/** What is seen of a page, in its own space: the part of the media box that the crop box leaves, or all if it leaves nothing. */
function seenBox(page: PDFPage) {
  const [media, crop] = [page.getMediaBox(), page.getCropBox()];
  const seen = {
    left: Math.max(media.x, crop.x),
    bottom: Math.max(media.y, crop.y),
    right: Math.min(media.x + media.width, crop.x + crop.width),
    top: Math.min(media.y + media.height, crop.y + crop.height),
  };
  if (seen.left < seen.right && seen.bottom < seen.top) return seen;
  return { left: media.x, bottom: media.y, right: media.x + media.width, top: media.y + media.height };
}

/** Returns the decoded content of a stream. @throws TaskRefused if it has a filter that pdf-lib does not decode as PDFium does */
function decodedContent(stream: PDFRawStream): Uint8Array {
  if (stream.contents.length === 0) return stream.contents;
  if (stream.dict.has(PDFName.of('DecodeParms'))) throw new TaskRefused('damaged');
  return decodePDFRawStream(stream).decode();
}

/** Returns the content of a page as a form. A single stream stays as it is, with its filters. */
function formOf({ node }: PDFPage, dictionary: PDFDict): PDFRawStream {
  const { context } = node;
  const contents = node.Contents();
  const items = contents instanceof PDFArray ? contents.asArray().map((item) => context.lookup(item)) : [contents];
  const streams = items.filter((item) => item instanceof PDFRawStream);
  const [only] = streams;
  if (only && streams.length === 1) {
    for (const entry of filterEntries) {
      const value = only.dict.get(entry);
      if (value) dictionary.set(entry, value);
    }
    return PDFRawStream.of(dictionary, only.contents);
  }
  const content = Buffer.concat(streams.flatMap((stream) => [decodedContent(stream), newline]));
  dictionary.set(PDFName.of('Filter'), PDFName.of('FlateDecode'));
  return PDFRawStream.of(dictionary, deflateSync(content));
}

/**
 * Returns a PDF with the marks over every page, and without data that is not drawn.
 * @param pages a PDF from `PdfDocument.copyPages`. The content of a page becomes a form, so that the graphics state
 *   that it leaves, such as a scale or a clipping path, has no effect on the marks.
 */
export async function overlayMarks(pages: Uint8Array, mark: TextOutline, traceId: number): Promise<Uint8Array> {
  const document = await PDFDocument.load(pages, { updateMetadata: false });
  const { context } = document;
  const [line, tile] = [registerLine(context, mark), registerTile(context, traceId)];
  const marksBySize = new Map<string, PDFRef>(); // one form for all pages of a size
  for (const page of document.getPages()) {
    const box = seenBox(page);
    const rotation = page.getRotation().angle;
    const [across, up] = [box.right - box.left, box.top - box.bottom];
    const size = rotation % 180 === 0 ? { width: across, height: up } : { width: up, height: across };
    const key = `${size.width} ${size.height}`;
    const marks = marksBySize.get(key) ?? registerMarks(context, mark, line, size, tile);
    marksBySize.set(key, marks);
    const corners = [box.left, box.bottom, box.right, box.top];
    const form = {
      Type: 'XObject',
      Subtype: 'Form',
      BBox: corners,
      Resources: page.node.Resources() ?? context.obj({}),
    };
    const drawn = context.register(formOf(page, context.obj(form)));
    page.node.set(PDFName.of('Resources'), context.obj({ XObject: { P: drawn, W: marks } }));
    const content = `/P Do q ${matrixOperator(pageMatrix(rotation, box))} /W Do Q`;
    page.node.set(PDFName.of('Contents'), context.register(context.flateStream(content)));
    for (const entry of ['MediaBox', 'CropBox']) page.node.set(PDFName.of(entry), context.obj(corners));
  }
  restoreLayers(document);
  removeHiddenData(document);
  return document.save({ useObjectStreams: false, addDefaultPage: false }); // object streams are written in quadratic time
}
