let mailedCode: string | null = null;

/**
 * Removes the code of a mailed link from the address of the page, so that the browser history does not contain it. Call this
 * function before other code reads the address.
 */
export function takeMailedCode(): void {
  const code = /^#code=(\d{8})$/.exec(window.location.hash)?.[1];
  if (!code) return;
  mailedCode = code;
  window.history.replaceState(null, '', window.location.pathname + window.location.search);
}

/** Returns the code from the address, or null. All later calls return null. */
export function consumeMailedCode(): string | null {
  const code = mailedCode;
  mailedCode = null;
  return code;
}
