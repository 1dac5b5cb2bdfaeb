let mailedCode: string | null = null;

/**
 * Removes the code from the address of the page, so that it does not stay in the history. The link in the mail contains it. Call
 * this function before anything else reads the address.
 */
export function takeMailedCode(): void {
  const code = /^#code=(\d{8})$/.exec(window.location.hash)?.[1];
  if (!code) return;
  mailedCode = code;
  window.history.replaceState(null, '', window.location.pathname + window.location.search);
}

/** Returns the code from the address, the first time only. */
export function readMailedCodeOnce(): string | null {
  const code = mailedCode;
  mailedCode = null;
  return code;
}
