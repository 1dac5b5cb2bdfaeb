import { type Outbound, type OutboundRequest, ResponseTooLarge, TargetRefused, TargetUnreachable } from '#ports/outbound.ts';
import { ProviderUnavailable } from '#ports/provider-errors.ts';

const tooManyRequests = 429;

/** The provider cannot be reached, or does not respond in time. A request for another user would fail, too. */
export class ProviderUnreachable extends ProviderUnavailable {}

/** Returns the error for a failed request, with a text for the operator. */
function requestError({ host }: URL, cause: unknown): ProviderUnavailable {
  if (cause instanceof TargetRefused) return new ProviderUnavailable(cause.message, { cause });
  if (cause instanceof ResponseTooLarge) return new ProviderUnavailable(`${host} sent a response that is too long.`, { cause });
  if (cause instanceof TargetUnreachable) return new ProviderUnreachable(`${cause.message}.`, { cause });
  return new ProviderUnreachable(`${host} did not respond.`, { cause });
}

export interface CompleteResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly content: Uint8Array;
}

/**
 * Sends a request to a provider over a connection whose address is checked. Follows no redirect.
 * @param maxBytes maximum length of the response
 * @throws ProviderUnavailable, also for status 429 and 5xx
 */
export async function requestProvider(
  { request }: Pick<Outbound, 'request'>,
  url: URL,
  options: OutboundRequest,
  maxBytes: number,
): Promise<CompleteResponse> {
  const response = await (async () => {
    const { status, headers, read } = await request(url, { ...options, maxBytes });
    return { status, headers, content: await read(maxBytes) };
  })().catch((cause: unknown) => {
    throw requestError(url, cause);
  });
  if (response.status >= 500 || response.status === tooManyRequests)
    throw new ProviderUnavailable(`${url.host} answered with status ${response.status}.`);
  return response;
}
