/** The address at which visitors reach Postern. */
export interface Links {
  /** Returns the base URL of links, without a slash at the end. */
  publicUrl(): string;
}
