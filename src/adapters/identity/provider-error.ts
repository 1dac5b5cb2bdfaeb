import type * as Library from 'openid-client';
import { ProviderRefused, ProviderUnavailable } from '#ports/openid.ts';

const maxLength = 300; // characters

/** Returns a text from outside for people: one line without control characters. */
const oneLine = (text: string) =>
  text
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, maxLength);

/** Returns the first error of a chain of causes that is of a class. */
function inCauses<E extends Error>(cause: unknown, kind: abstract new (...parameters: never[]) => E): E | null {
  for (let error = cause; error instanceof Error; error = error.cause) if (error instanceof kind) return error;
  return null;
}

/** Returns what a provider says about an error: its code, and its description if there is one. */
const statement = (error: string, description: string | undefined) => oneLine(description ? `${error} (${description})` : error);

/** Returns the port's error for an error of openid-client. */
export function providerError(library: typeof Library, cause: unknown): Error {
  const known = inCauses(cause, ProviderUnavailable) ?? inCauses(cause, ProviderRefused);
  if (known) return known;
  const refused = inCauses(cause, library.AuthorizationResponseError);
  if (refused)
    return new ProviderRefused(`The provider refused the sign-in: ${statement(refused.error, refused.error_description)}`, { cause });
  const body = inCauses(cause, library.ResponseBodyError);
  if (body) {
    const text = `The provider refused a request: ${statement(body.error, body.error_description)}`;
    return body.status >= 500 ? new ProviderUnavailable(text, { cause }) : new ProviderRefused(text, { cause });
  }
  const client = inCauses(cause, library.ClientError);
  if (client?.code === 'OAUTH_TIMEOUT' || client?.code === 'OAUTH_ABORT')
    return new ProviderUnavailable('The provider did not respond in time.', { cause });
  const details = client
    ? oneLine(client.cause instanceof Error ? `${client.message}: ${client.cause.message}` : client.message)
    : 'unknown error';
  return new ProviderRefused(`The response of the provider failed a check: ${details}`, { cause });
}
