/** Size of a page as it is seen, rotated and cropped: in points for a PDF, in pixels for an image. */
export interface PageSize {
  readonly width: number;
  readonly height: number;
}

/** For whom a document is drawn. */
export interface DocumentSender {
  readonly tid: number;
  /** A link, or another group of requests. Among the groups of a tenant, the one whose tasks took the least time comes first. */
  readonly group: string;
}

/** A document whose pages are drawn. */
export interface SourceDocument extends DocumentSender {
  readonly kind: 'pdf' | 'image' | 'office';
  /** Documents with the same version have the same content, so the renderer may keep a document instead of reading it again. */
  readonly version: string;
  /** Returns all bytes. */
  read(): Promise<Uint8Array>;
}

/** The largest size of a picture. null: any height. */
export interface PictureBounds {
  /** Pixels. */
  readonly width: number;
  readonly height: number | null;
}

/** What is drawn over the pages of a document, so that a copy shows who has got it. */
export interface PageMark {
  /** Text of the watermark. */
  readonly text: string;
  /** Number that the invisible trace mark contains; less than 2^48. Small pictures get no trace mark. */
  readonly traceId: number;
}

/** What is left of a trace mark in a picture. */
export interface Trace {
  readonly traceId: number;
  /** Part of the cells of the mark that agree with the number, from 0 to 1. About half of them do so by chance. */
  readonly agreement: number;
}

/** Which page to draw, and how large. */
export interface PageRequest {
  /** From 0. */
  readonly index: number;
  /** The picture fills these bounds in one direction. A very tall page, and an image with fewer pixels, is drawn smaller. */
  readonly bounds: PictureBounds;
  /** null: none. */
  readonly mark: PageMark | null;
}

/** A page as a picture. */
export interface PagePicture {
  readonly bytes: Uint8Array;
  readonly mediaType: 'image/jpeg' | 'image/png';
}

/** Why a document cannot be drawn or marked. */
export type DocumentProblem =
  /** It is damaged, or not of a format that can be drawn. */
  | 'damaged'
  /** It can be opened only with a password. */
  | 'encrypted'
  /** A signature in it forbids every change. */
  | 'certified'
  /** It has too many pages or pixels, or takes too much time or memory. */
  | 'tooCostly'
  /** It is an Office document, and LibreOffice is not installed, or does not work in its sandbox. */
  | 'needsLibreOffice'
  | 'noSuchPage';

/** A document cannot be drawn or marked. Another attempt would usually fail, too. */
export class DocumentUnusable extends Error {
  readonly problem: DocumentProblem;

  constructor(problem: DocumentProblem, options?: ErrorOptions) {
    super(`the document cannot be drawn: ${problem}`, options);
    this.problem = problem;
  }
}

/** What a signature says. */
export interface SignatureText {
  /** ms since the epoch. */
  readonly at: number;
  readonly reason: string;
}

/** A PDF with an empty place for a signature. */
export interface SignaturePlace {
  readonly bytes: Uint8Array;
  /** Position of the `<` before the signature in hexadecimal digits. The signature covers all bytes before `start` and from `end` on. */
  readonly start: number;
  /** Position after the `>` that follows the digits. */ readonly end: number;
}

/** The renderer cannot work now. */
export class RendererUnavailable extends Error {}

/**
 * Draws and marks documents in sandboxed processes. Every method that works on a document may throw DocumentUnusable and
 * RendererUnavailable. The tasks of a tenant run one after the other; conversions of Office documents may run beside them.
 */
export interface Documents extends AsyncDisposable {
  /** Whether Office documents can be drawn, as far as is known: LibreOffice is installed, and works in its sandbox. */
  readonly drawsOffice: boolean;
  /**
   * Starts a process that draws PDF documents, so that the first document of a visitor need not wait for it. Does nothing if the tenant has
   * one, or if the maximum number of other tenants already have running processes.
   */
  prepare(tid: number): void;
  /** Returns the sizes of all pages. */
  pages(document: SourceDocument): Promise<readonly PageSize[]>;
  /** Draws a page: as a PNG if it is a page of text without colours in a PDF or Office document, else as a JPEG. */
  draw(document: SourceDocument, request: PageRequest): Promise<PagePicture>;
  /** Returns the text of a page, at most 100,000 characters; '' of an image. @param index from 0 */
  text(document: SourceDocument, index: number): Promise<string>;
  /** Returns a file that contains only the pages of the document, with a mark over each: an image of the same format, else a PDF. */
  mark(document: SourceDocument, mark: PageMark): Promise<Uint8Array>;
  /** Returns the trace mark of a page, for example of a photograph of it; null: none is found. @param index from 0 */
  findTrace(document: SourceDocument, index: number): Promise<Trace | null>;
  /**
   * Adds an empty place for a signature to a PDF. Earlier signatures stay valid. The problem of DocumentUnusable is `encrypted`,
   * `certified`, `damaged` or `tooCostly`.
   */
  addSignaturePlace(sender: DocumentSender, pdf: Uint8Array, text: SignatureText): Promise<SignaturePlace>;
}
