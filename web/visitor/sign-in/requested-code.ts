import type { CodeUse } from '#core/mail/code-mail.ts';
import { codeLifetime } from '#core/sign-in-codes.ts';
import { deleteItem, readItem, saveItem } from '#kit/browser-memory.ts';
import { linkPath, requestCode } from '#visitor/link-api.ts';

/** The last request for a code that this browser has sent at this link. Other tabs see it too: the link in the mail opens a new one. */
export interface RequestedCode {
  readonly email: string;
  /** When it was sent, in ms since the epoch. */
  readonly at: number;
}

const key = `code ${linkPath}`;

/** Requests a code for an address. @returns the request, which other tabs see from then on */
export async function sendCodeRequest(email: string, use: CodeUse): Promise<RequestedCode> {
  await requestCode(email, use);
  const requested = { email, at: Date.now() };
  saveItem('localStorage', key, JSON.stringify(requested));
  return requested;
}

export function forgetRequestedCode(): void {
  deleteItem('localStorage', key);
}

/** Returns the last request for a code if its code can still be valid, else null. */
export function recallRequestedCode(now: number): RequestedCode | null {
  const text = readItem('localStorage', key);
  if (text === null) return null;
  try {
    const { email, at }: Partial<RequestedCode> = JSON.parse(text);
    if (typeof email === 'string' && typeof at === 'number' && Math.abs(now - at) < codeLifetime) return { email, at };
  } catch {} // not written by this version
  forgetRequestedCode();
  return null;
}
