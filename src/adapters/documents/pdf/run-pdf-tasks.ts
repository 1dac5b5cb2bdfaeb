import type { WrappedPdfiumModule } from '@embedpdf/pdfium';
import { LRUCache } from 'lru-cache';
import type { MarkFonts } from '#adapters/documents/mark/fonts.ts';
import { hasLayers, mayHaveLayers, noteHiddenLayers } from '#adapters/documents/mark/layers.ts';
import { marksAlone, overlayMarks } from '#adapters/documents/mark/mark-pdf.ts';
import { outlineText } from '#adapters/documents/mark/text-outline.ts';
import { type Frame, noBytes } from '#adapters/documents/sandbox/frames.ts';
import { parseHeader } from '#adapters/documents/sandbox/parse-header.ts';
import { TaskRefused } from '#adapters/documents/sandbox/serve-tasks.ts';
import { scaleTo } from '#adapters/documents/scale-to.ts';
import { findTrace, searchedSize } from '#adapters/documents/trace/find-trace.ts';
import { greyPixels, paintTrace } from '#adapters/documents/trace/paint-trace.ts';
import type { PageMark, PageSize, PictureBounds, Trace } from '#ports/documents.ts';
import { encodeGreyPng } from './grey-png.ts';
import type { EncodeJpeg } from './jpeg-encoder.ts';
import { PdfDocument, type Picture, UncheckedAnnotations } from './pdf-document.ts';
import { PdfTask } from './pdf-tasks.ts';
import { addSignaturePlace } from './signature-place.ts';

const maxPages = 2000;
const maxPixels = 8_000_000;
const [maxDocuments, maxDocumentBytes] = [8, 192 << 20]; // in the cache; a new document is opened before older ones are removed for it
const warmUpSize = { width: 595, height: 842 }; // A4
const warmUpWidth = 1000; // px
const warmUpTexts = ['127.0.0.1', '2026-01-01']; // V8 compiles functions better after several calls
const maxMarks = 4; // pictures of marks in the cache

/** The picture of marks, and the positions of the pixels that are not transparent. Most pixels are transparent. */
interface MarkPicture {
  readonly data: Uint8Array;
  readonly drawn: Uint32Array;
}

function markPicture({ data }: Picture): MarkPicture {
  const drawn: number[] = [];
  for (let pixel = 0; pixel < data.length; pixel += 4) if (data[pixel + 3] !== 0) drawn.push(pixel);
  return { data, drawn: Uint32Array.from(drawn) };
}

/** Lays the marks over the picture of a page: it has the same size, and no transparent pixels. */
function blend({ data: ground }: Picture, { data: marks, drawn }: MarkPicture): void {
  for (const pixel of drawn) {
    const alpha = marks[pixel + 3] ?? 0;
    const start = (pixel / 4) * 3;
    for (let channel = 0; channel < 3; channel += 1)
      ground[start + channel] = ((marks[pixel + channel] ?? 0) * alpha + (ground[start + channel] ?? 0) * (255 - alpha)) / 255;
  }
}

/** Runs the tasks of a process. Caches the documents that were used last, so that a document is not sent again for each of its pages. */
export class PdfTasks {
  readonly #pdfium: WrappedPdfiumModule;
  readonly #fonts: MarkFonts;
  readonly #encodeJpeg: EncodeJpeg;
  readonly #documents = new LRUCache<string, PdfDocument>({
    max: maxDocuments,
    maxSize: maxDocumentBytes,
    dispose: (document) => document[Symbol.dispose](),
  });
  /** Pictures of marks, by text and size. */
  readonly #marks = new LRUCache<string, MarkPicture>({ max: maxMarks });

  constructor(pdfium: WrappedPdfiumModule, fonts: MarkFonts, encodeJpeg: EncodeJpeg) {
    this.#pdfium = pdfium;
    this.#fonts = fonts;
    this.#encodeJpeg = encodeJpeg;
  }

  async run({ header, bytes }: Frame): Promise<Frame> {
    const task = parseHeader(PdfTask, header);
    if (task.task === 'warmUp') return this.#warmUp();
    if (task.task === 'open') return this.#open(task.id, bytes);
    if (task.task === 'place') {
      const { bytes: appended, ...positions } = await addSignaturePlace(bytes, task);
      return { header: positions, bytes: appended };
    }
    if (task.task === 'pages') return { header: { pages: this.#find(task.id).pageSizes() }, bytes: noBytes };
    if (task.task === 'mark') return { header: {}, bytes: await this.#mark(this.#find(task.id), task.mark) };
    const { id, index } = task;
    if (task.task === 'text')
      return { header: {}, bytes: Buffer.from(await this.#onPage(id, index, (document) => document.textOf(index))) };
    if (task.task === 'trace')
      return { header: { trace: await this.#onPage(id, index, (document) => this.#findTrace(document, index)) }, bytes: noBytes };
    return this.#encode(await this.#onPage(id, index, (document) => this.#draw(document, task)), task.mark?.traceId ?? null);
  }

  async #mark(document: PdfDocument, { text, traceId }: PageMark): Promise<Uint8Array> {
    return overlayMarks(await this.#copyPages(document), outlineText(text, this.#fonts), traceId);
  }

  /** Copies the pages of a document. The catalog says which layers are hidden, and is not copied: so each of these layers gets a note first. */
  async #copyPages(document: PdfDocument): Promise<Uint8Array> {
    const pages = document.copyPages();
    if (!mayHaveLayers(pages)) return pages;
    using noted = new PdfDocument(this.#pdfium, await noteHiddenLayers(document.copyAll()));
    return noted.copyPages();
  }

  async #findTrace(document: PdfDocument, index: number): Promise<Trace | null> {
    const picture = await this.#draw(document, { index, width: searchedSize, height: searchedSize, mark: null });
    return findTrace(greyPixels(picture));
  }

  async #warmUp(): Promise<Frame> {
    for (const text of warmUpTexts) {
      using document = new PdfDocument(this.#pdfium, await marksAlone(outlineText(text, this.#fonts), warmUpSize));
      const mark = { text, traceId: 0 };
      this.#encode(await this.#draw(document, { index: 0, width: warmUpWidth, height: null, mark }), mark.traceId);
    }
    return { header: {}, bytes: noBytes };
  }

  /** @param traceId null: the picture gets no trace mark */
  #encode(picture: Picture, traceId: number | null): Frame {
    const png = encodeGreyPng(picture, traceId);
    if (png) return { header: { mediaType: 'image/png' }, bytes: png };
    if (traceId !== null) paintTrace(picture, traceId);
    return { header: { mediaType: 'image/jpeg' }, bytes: this.#encodeJpeg(picture) };
  }

  #open(id: string, bytes: Uint8Array): Frame {
    using atError = new DisposableStack();
    const document = atError.use(new PdfDocument(this.#pdfium, bytes));
    if (document.pageCount > maxPages) throw new TaskRefused('tooManyPages');
    this.#documents.set(id, document, { size: Math.max(1, bytes.length) });
    atError.move(); // the cache closes the document
    return { header: {}, bytes: noBytes };
  }

  /** @throws TaskRefused (`unknown`) */
  #find(id: string): PdfDocument {
    const document = this.#documents.get(id);
    if (!document) throw new TaskRefused('unknown');
    return document;
  }

  /**
   * Runs work on a page. If the page has annotations, those of hidden layers are removed from the document first.
   * @throws TaskRefused (`unknown`, `noSuchPage`, `damaged`)
   */
  async #onPage<T>(id: string, index: number, work: (document: PdfDocument) => T | Promise<T>): Promise<T> {
    const document = this.#page(this.#find(id), index);
    try {
      return await work(document);
    } catch (cause) {
      if (!(cause instanceof UncheckedAnnotations)) throw cause;
      return work(await this.#withoutHiddenAnnotations(id, document));
    }
  }

  async #withoutHiddenAnnotations(id: string, document: PdfDocument): Promise<PdfDocument> {
    const bytes = document.copyAll();
    if (!hasLayers(bytes)) {
      document.hasCheckedAnnotations = true;
      return document;
    }
    const changed = new PdfDocument(this.#pdfium, await noteHiddenLayers(bytes));
    changed.hasCheckedAnnotations = true;
    this.#documents.set(id, changed, { size: Math.max(1, bytes.length) });
    return changed;
  }

  /** Returns the document if it has a page with this index. @throws TaskRefused (`noSuchPage`) */
  #page(document: PdfDocument, index: number): PdfDocument {
    if (index >= document.pageCount) throw new TaskRefused('noSuchPage');
    return document;
  }

  async #draw(
    document: PdfDocument,
    { index, mark, ...bounds }: PictureBounds & { readonly index: number; readonly mark: PageMark | null },
  ): Promise<Picture> {
    const size = this.#page(document, index).sizeOf(index);
    const scale = Math.min(scaleTo(bounds, size), Math.sqrt(maxPixels / (size.width * size.height)));
    const [width, height] = [size.width, size.height].map((length) => Math.max(1, Math.round(length * scale)));
    if (width === undefined || height === undefined || !Number.isFinite(scale)) throw new TaskRefused('damaged');
    const picture = document.draw(index, width, height);
    if (mark !== null) blend(picture, await this.#pictureOf(mark.text, size, picture));
    return picture;
  }

  /** Returns the picture of the marks for a page. @param size in points @param pixels size in pixels */
  async #pictureOf(text: string, size: PageSize, pixels: PageSize): Promise<MarkPicture> {
    const key = JSON.stringify([text, size.width, size.height, pixels.width, pixels.height]);
    const known = this.#marks.get(key);
    if (known) return known;
    const bytes = await marksAlone(outlineText(text, this.#fonts), size);
    using document = new PdfDocument(this.#pdfium, bytes);
    const picture = markPicture(document.drawTransparent(0, pixels.width, pixels.height));
    this.#marks.set(key, picture);
    return picture;
  }
}
