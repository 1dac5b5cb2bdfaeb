import type { WrappedPdfiumModule } from '@embedpdf/pdfium';
import { TaskRefused } from '#adapters/documents/sandbox/serve-tasks.ts';
import type { PageSize } from '#ports/documents.ts';
import { allocate, copyIn, copyOut } from './pdfium-memory.ts';

/** Pixels from the upper left corner, with red, green, blue and, only on transparent ground, alpha: one byte each. */
export interface Picture {
  readonly data: Uint8Array;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

const maxCharacters = 100_000; // of the text of a page
const passwordError = 4; // FPDF_ERR_PASSWORD
const drawsAnnotations = 0x01; // FPDF_ANNOT
const redFirst = 0x10; // FPDF_REVERSE_BYTE_ORDER
const flattenForDisplay = 0; // FLAT_NORMALDISPLAY
const flattenFailed = 0; // FLATTEN_FAIL

/** The kinds of ground on which pages are drawn. */
const grounds = {
  white: { format: 2, bytesPerPixel: 3, colour: 0xffffffff }, // FPDFBitmap_BGR
  transparent: { format: 4, bytesPerPixel: 4, colour: 0x00000000 }, // FPDFBitmap_BGRA
} as const;

/** A page has annotations, of which some may belong to hidden layers. They become a part of the page when it is drawn or read. */
export class UncheckedAnnotations extends Error {}

/** A PDF that PDFium has opened. Disposal closes it. */
export class PdfDocument implements Disposable {
  readonly #module: WrappedPdfiumModule;
  readonly #resources = new DisposableStack();
  readonly #document: number;
  /** Whether the document certainly has no annotations of hidden layers. */
  hasCheckedAnnotations = false;

  /** @throws TaskRefused: `encrypted`, `damaged` or `memory` */
  constructor(module: WrappedPdfiumModule, bytes: Uint8Array) {
    using atError = new DisposableStack();
    const { address } = atError.use(copyIn(module, bytes)); // PDFium reads the bytes as long as the document is open
    this.#module = module;
    this.#document = module.FPDF_LoadMemDocument(address, bytes.length, '');
    if (this.#document === 0) throw new TaskRefused(module.FPDF_GetLastError() === passwordError ? 'encrypted' : 'damaged');
    atError.defer(() => module.FPDF_CloseDocument(this.#document));
    this.#resources = atError.move();
  }

  get pageCount(): number {
    return this.#module.FPDF_GetPageCount(this.#document);
  }

  /** Returns the size of a page. Cropping and rotation are applied. @param index from 0 @throws TaskRefused (`damaged`) */
  sizeOf(index: number): PageSize {
    using size = allocate(this.#module, 8); // two floats
    if (!this.#module.FPDF_GetPageSizeByIndexF(this.#document, index, size.address)) throw new TaskRefused('damaged');
    const { buffer, byteOffset } = copyOut(this.#module, size.address, 8);
    const [width = 0, height = 0] = new Float32Array(buffer, byteOffset, 2);
    return { width, height };
  }

  /** Returns the sizes of all pages. @throws TaskRefused (`damaged`) */
  pageSizes(): readonly PageSize[] {
    return Array.from({ length: this.pageCount }, (_, index) => this.sizeOf(index));
  }

  /** Returns the text of a page, with its filled fields: at most the first 100,000 characters. @throws TaskRefused */
  textOf(index: number): string {
    const module = this.#module;
    using resources = new DisposableStack();
    const page = resources.adopt(this.#loadFlattened(index), (opened) => module.FPDF_ClosePage(opened));
    const text = module.FPDFText_LoadPage(page);
    if (text === 0) throw new TaskRefused('damaged');
    resources.defer(() => module.FPDFText_ClosePage(text));
    const count = Math.min(maxCharacters, module.FPDFText_CountChars(text));
    if (count <= 0) return '';
    const length = 2 * (count + 1); // UTF-16, with a NUL at the end
    const { address } = resources.use(allocate(module, length));
    const written = module.FPDFText_GetText(text, 0, count, address);
    return new TextDecoder('utf-16le').decode(copyOut(module, address, 2 * Math.max(0, written - 1)));
  }

  /** Draws a page on white, with its annotations and filled fields. @throws TaskRefused */
  draw(index: number, width: number, height: number): Picture {
    return this.#draw(index, width, height, 'white');
  }

  /** Draws a page on transparent ground. @throws TaskRefused */
  drawTransparent(index: number, width: number, height: number): Picture {
    return this.#draw(index, width, height, 'transparent');
  }

  /**
   * Returns a new PDF of the pages alone, with annotations and fields as a part of them. It has no attachments, scripts, earlier versions
   * or password, and it is sound even if this document is damaged. @throws TaskRefused
   */
  copyPages(): Uint8Array {
    const module = this.#module;
    using resources = new DisposableStack();
    const copy = resources.adopt(module.FPDF_CreateNewDocument(), (document) => module.FPDF_CloseDocument(document));
    if (!module.FPDF_ImportPagesByIndex(copy, this.#document, 0, 0, 0)) throw new TaskRefused('damaged');
    for (let index = module.FPDF_GetPageCount(copy) - 1; index >= 0; index -= 1) {
      const page = module.FPDF_LoadPage(copy, index);
      if (page === 0) throw new TaskRefused('damaged');
      const flattened = module.FPDFPage_Flatten(page, flattenForDisplay);
      module.FPDF_ClosePage(page);
      if (flattened === flattenFailed) throw new TaskRefused('damaged');
    }
    return this.#save(copy);
  }

  /** Returns the whole document, written anew. */
  copyAll(): Uint8Array {
    return this.#save(this.#document);
  }

  [Symbol.dispose](): void {
    this.#resources.dispose();
  }

  /** Returns the bytes of an open document. */
  #save(document: number): Uint8Array {
    const module = this.#module;
    using resources = new DisposableStack();
    const writer = resources.adopt(module.PDFiumExt_OpenFileWriter(), (opened) => module.PDFiumExt_CloseFileWriter(opened));
    module.PDFiumExt_SaveAsCopy(document, writer);
    const length = module.PDFiumExt_GetFileWriterSize(writer);
    const { address } = resources.use(allocate(module, length));
    module.PDFiumExt_GetFileWriterData(writer, address, length);
    return copyOut(module, address, length);
  }

  #draw(index: number, width: number, height: number, ground: keyof typeof grounds): Picture {
    const module = this.#module;
    const { format, bytesPerPixel, colour } = grounds[ground];
    using resources = new DisposableStack();
    const page = resources.adopt(this.#loadFlattened(index), (opened) => module.FPDF_ClosePage(opened));
    const length = width * height * bytesPerPixel;
    const { address } = resources.use(allocate(module, length));
    const bitmap = module.FPDFBitmap_CreateEx(width, height, format, address, width * bytesPerPixel);
    if (bitmap === 0) throw new TaskRefused('memory');
    resources.defer(() => module.FPDFBitmap_Destroy(bitmap));
    module.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, colour);
    module.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, drawsAnnotations | redFirst);
    return { data: copyOut(module, address, length), width, height };
  }

  /**
   * Opens a page. A rendering leaves filled fields out unless they are made a part of the page first.
   * @throws TaskRefused; UncheckedAnnotations
   */
  #loadFlattened(index: number): number {
    const module = this.#module;
    const page = module.FPDF_LoadPage(this.#document, index);
    if (page === 0) throw new TaskRefused('damaged');
    if (module.FPDFPage_GetAnnotCount(page) === 0) return page;
    if (this.hasCheckedAnnotations) module.FPDFPage_Flatten(page, flattenForDisplay);
    module.FPDF_ClosePage(page);
    if (!this.hasCheckedAnnotations) throw new UncheckedAnnotations();
    const flattened = module.FPDF_LoadPage(this.#document, index);
    if (flattened === 0) throw new TaskRefused('damaged');
    return flattened;
  }
}
