import type { CustomFetch } from 'openid-client';
import { ProviderUnavailable } from '#ports/openid.ts';
import { type Outbound, ResponseTooLarge, TargetRefused, TargetUnreachable } from '#ports/outbound.ts';

const maxBytes = 1 << 19; // of a response: metadata, keys, tokens, claims
const withoutBody: readonly number[] = [204, 205, 304];
const tooManyRequests = 429;

/** The provider cannot be reached, or does not respond in time. A request for another user would fail, too. */
export class ProviderUnreachable extends ProviderUnavailable {}

/** Returns the error for a failed request, with a text for the operator. */
function unavailable(url: URL, cause: unknown): ProviderUnavailable {
  if (cause instanceof TargetRefused) return new ProviderUnavailable(cause.message, { cause });
  if (cause instanceof ResponseTooLarge) return new ProviderUnavailable(`${url.host} sent too long a response.`, { cause });
  if (cause instanceof TargetUnreachable) return new ProviderUnreachable(`${url.host} cannot be reached.`, { cause });
  return new ProviderUnreachable(`${url.host} did not respond in time.`, { cause });
}

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
  ({ request }: Pick<Outbound, 'request'>, deadlineOf: () => AbortSignal): CustomFetch =>
  async (address, { body, headers, method, signal }) => {
    const url = new URL(address);
    const deadline = AbortSignal.any([deadlineOf(), ...(signal ? [signal] : [])]);
    const response = await (async () => {
      const sent = { method: method === 'POST' ? 'POST' : 'GET', headers, body: bytesOf(body), signal: deadline } as const;
      const { status, headers: fields, read } = await request(url, sent);
      return { status, fields, content: await read(maxBytes) };
    })().catch((cause: unknown) => {
      throw unavailable(url, cause);
    });
    const { status, fields, content } = response;
    if (status >= 500 || status === tooManyRequests) throw new ProviderUnavailable(`${url.host} answered with status ${status}.`);
    return new Response(withoutBody.includes(status) ? null : Buffer.from(content), { status, headers: fields });
  };
