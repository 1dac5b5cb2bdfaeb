/** Size of a page as it is seen, rotated and cropped: in points for a PDF, in pixels for an image. */
export interface PageSize {
  readonly width: number;
  readonly height: number;
}

/** A document whose pages are drawn. */
export interface SourceDocument {
  readonly kind: 'pdf' | 'image' | 'office';
  readonly tid: number;
  /** The same for the same content: the renderer may keep a document, and does not read it again. */
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
  /** Number that the trace mark contains, which nobody sees; less than 2^48. Small pictures get no trace mark. */
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
  /** The picture fills them in one direction. A very tall page, and an image with fewer pixels, is drawn smaller. */
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

/** A document cannot be drawn or marked. Another attempt would fail, too. */
export class DocumentUnusable extends Error {
  readonly problem: DocumentProblem;

  constructor(problem: DocumentProblem) {
    super(`the document cannot be drawn: ${problem}`);
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
  /** Positions of `<`, and after `>`. The hexadecimal digits between them are the signature, which covers all other bytes. */
  readonly start: number;
  readonly end: number;
}

/** The renderer cannot work now. */
export class RendererUnavailable extends Error {}

/**
 * Draws and marks documents in processes that have no access to anything else. Every method throws DocumentUnusable and
 * RendererUnavailable. A tenant has one process of each kind at a time, so its tasks run one after the other.
 */
export interface Documents extends AsyncDisposable {
  /** Whether it can draw Office documents: whether LibreOffice is installed, and works in its sandbox. */
  readonly drawsOffice: boolean;
  /**
   * Starts a process that draws PDF documents, so that the first document of a visitor need not wait for it. Does nothing if the tenant has
   * one, or if processes of the maximum number of other tenants run.
   */
  prepare(tid: number): void;
  /** Returns the sizes of all pages. */
  pages(document: SourceDocument): Promise<readonly PageSize[]>;
  /** Draws a page: as a PNG if it is a text without colours, else as a JPEG. */
  draw(document: SourceDocument, request: PageRequest): Promise<PagePicture>;
  /** Returns the text of a page, at most 100,000 characters; '' of an image. @param index from 0 */
  text(document: SourceDocument, index: number): Promise<string>;
  /** Returns a new PDF, or an image of the same format (of an Office document: a PDF), that contains only the pages of the document, with a mark over each. */
  mark(document: SourceDocument, mark: PageMark): Promise<Uint8Array>;
  /** Returns the trace mark of a page, for example of a photograph of it; null: none is found. @param index from 0 */
  findTrace(document: SourceDocument, index: number): Promise<Trace | null>;
  /**
   * Adds an empty place for a signature to a PDF. Earlier signatures stay valid. DocumentUnusable: `encrypted`, `certified` or `damaged`.
   */
  addSignaturePlace(tid: number, pdf: Uint8Array, text: SignatureText): Promise<SignaturePlace>;
}
