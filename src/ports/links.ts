/** Where visitors reach Postern. */
export interface Links {
  /** Base address written into links, without a slash at its end. */
  publicUrl(): string;
}
