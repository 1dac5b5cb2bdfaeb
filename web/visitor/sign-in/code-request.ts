import type { CodeUse } from '#core/mail/code-mail.ts';
import { codeLifetime } from '#core/sign-in-codes.ts';
import { deleteStoredText, readStoredText, saveStoredText } from '#kit/browser-storage.ts';
import { linkPath, requestCode } from '#visitor/link-api.ts';

/** The last request for a code that this browser has sent at this link. All tabs share it, because the link in the mail opens a new tab. */
export interface CodeRequest {
  readonly email: string;
  /** When it was sent, in ms since the epoch. */
  readonly at: number;
}

const key = `code ${linkPath}`;

/** Requests a code for an address, and saves the request for all tabs. */
export async function sendCodeRequest(email: string, use: CodeUse): Promise<CodeRequest> {
  await requestCode(email, use);
  const codeRequest = { email, at: Date.now() };
  saveStoredText('localStorage', key, JSON.stringify(codeRequest));
  return codeRequest;
}

export function deleteCodeRequest(): void {
  deleteStoredText('localStorage', key);
}

/** Returns the last request for a code if its code can still be valid. Otherwise deletes the request and returns null. */
export function readCodeRequest(now: number): CodeRequest | null {
  const text = readStoredText('localStorage', key);
  if (text === null) return null;
  try {
    const { email, at }: Partial<CodeRequest> = JSON.parse(text);
    if (typeof email === 'string' && typeof at === 'number' && Math.abs(now - at) < codeLifetime) return { email, at };
  } catch {} // not written by this version
  deleteCodeRequest();
  return null;
}
