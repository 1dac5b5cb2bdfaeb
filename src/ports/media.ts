import type { ContentKind } from '#core/policy/delivery.ts';

/** What a file is, by its first bytes. */
export interface Media {
  readonly kind: ContentKind;
  /** As which a browser may show it. */
  readonly mediaType: string;
}

/** Tells what files are. */
export interface MediaTypes {
  /** A hint, by the name's ending. */
  byName(name: string): string;
  /** @param head the first `headBytes` of the file, or all of a shorter one */
  isPdf(head: Uint8Array): boolean;
  /** @param head the same */
  byBytes(head: Uint8Array): Promise<Media>;
}

/** How many bytes tell what a file is. */
export const headBytes = 4100;
