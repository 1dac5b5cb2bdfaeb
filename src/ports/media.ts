import type { ContentKind } from '#core/authorization/delivery.ts';

/** Type of a file, detected from its first bytes. */
export interface Media {
  readonly kind: ContentKind;
  /** Media type that is safe in a response to a browser: markup such as HTML or SVG counts as plain text. */
  readonly mediaType: string;
}

export interface MediaTypes {
  /** Returns the media type by the extension of a name. It is only a hint. */
  byName(name: string): string;
  /** Returns whether a file is a PDF. @param head the first `headBytes` of the file, or all bytes of a shorter file */
  isPdf(head: Uint8Array): boolean;
  /** Detects the type from the content. @param head as for `isPdf` */
  byBytes(head: Uint8Array): Promise<Media>;
}

/** Number of bytes that type detection needs. */
export const headBytes = 4100;
