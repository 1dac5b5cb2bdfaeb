let mailedCode: string | null = null;

/**
 * Takes the code out of the address of the page, so that the browser history does not contain it. The link in the mail leads to an
 * address with the code. Call this function before other code reads the address.
 */
export function takeMailedCode(): void {
  const code = /^#code=(\d{8})$/.exec(window.location.hash)?.[1];
  if (!code) return;
  mailedCode = code;
  window.history.replaceState(null, '', window.location.pathname + window.location.search);
}

/** Returns the code from the address at the first call, and null at all later calls. */
export function readMailedCodeOnce(): string | null {
  const code = mailedCode;
  mailedCode = null;
  return code;
}
