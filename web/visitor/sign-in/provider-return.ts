import { deleteStoredText, readStoredText, saveStoredText } from '#kit/browser-storage.ts';
import { Failure, linkPath } from '#visitor/link-api.ts';

/** A failed sign-in at a provider, and the reference by which the operator finds this sign-in in the audit log. */
export interface FailedSignIn {
  readonly failure: Failure;
  readonly reference: string;
}

const key = `way back ${linkPath}`;
const maxSignInTime = 10 * 60_000; // ms: the server has the same limit
let failedSignIn: FailedSignIn | null = null;

/** Stores which folder or preview the page shows: the redirects of the provider lose the part of the address after the `#`. */
export function saveFolderAddress(): void {
  if (window.location.hash !== '') saveStoredText('sessionStorage', key, `${Date.now()} ${window.location.hash}`);
}

/** Deletes and returns the stored fragment of the address. Returns an empty string if there is none, or if it is older than ten minutes. */
function takeFolderAddress(): string {
  const [, startedAt = '0', hash = ''] = /^(\d+) (#.*)$/.exec(readStoredText('sessionStorage', key) ?? '') ?? [];
  deleteStoredText('sessionStorage', key);
  return Date.now() - Number(startedAt) < maxSignInTime ? hash : '';
}

/**
 * Removes the outcome of a sign-in at a provider from the address, and restores the folder or preview that the page showed
 * before. Call this function before other code reads the address.
 */
export function takeProviderOutcome(): void {
  const { hash, pathname, search } = window.location;
  const [, code, reference = ''] = /^#sign-in=(\w+)\.([\w-]+)$/.exec(hash) ?? [];
  if (code !== undefined) failedSignIn = { failure: new Failure(0, code, '', null), reference };
  else if (hash !== '') return;
  window.history.replaceState(null, '', pathname + search + takeFolderAddress());
}

/** Returns the failed sign-in that has led to this page, or null. All later calls return null. */
export function consumeFailedSignIn(): FailedSignIn | null {
  const current = failedSignIn;
  failedSignIn = null;
  return current;
}
