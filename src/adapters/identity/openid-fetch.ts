import type { CustomFetch } from 'openid-client';
import type { Outbound } from '#ports/outbound.ts';
import { requestProvider } from './provider-request.ts';

const maxBytes = 1 << 19; // of a response: metadata, keys, tokens, claims
const withoutBody: readonly number[] = [204, 205, 304];

/** Returns the bytes of a request body. The library sends form data only. */
function bytesOf(body: unknown): string | null {
  if (body === undefined || body === null) return null;
  if (typeof body === 'string' || body instanceof URLSearchParams) return String(body);
  throw new TypeError('a request body must be text or form data');
}

/**
 * Returns a `fetch` for openid-client over connections whose addresses are checked. It follows no redirect, and reads at most
 * 512 KiB of a response. The function throws ProviderUnavailable, also for status 429 and 5xx.
 * @param deadlineOf returns what aborts a request
 */
export const openIdFetch =
  (outbound: Pick<Outbound, 'request'>, deadlineOf: () => AbortSignal): CustomFetch =>
  async (address, { body, headers, method, signal }) => {
    const deadline = AbortSignal.any([deadlineOf(), ...(signal ? [signal] : [])]);
    const sent = { method: method === 'POST' ? 'POST' : 'GET', headers, body: bytesOf(body), signal: deadline } as const;
    const { status, headers: fields, content } = await requestProvider(outbound, new URL(address), sent, maxBytes);
    return new Response(withoutBody.includes(status) ? null : Buffer.from(content), { status, headers: fields });
  };
