import type * as Library from 'openid-client';
import { ProviderRefused, ProviderUnavailable, ResponseInvalid, ResponseRefused } from '#ports/provider-errors.ts';

const maxLength = 300; // characters

/** Errors by which a provider says that it cannot answer now (RFC 6749, 4.1.2.1). */
const temporaryErrors: readonly string[] = ['server_error', 'temporarily_unavailable'];

/** Returns untrusted text as one line without control characters, so that it can be shown. */
const oneLine = (text: string) =>
  text
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, maxLength);

/** Returns the first error in the chain of causes that is an instance of a class. */
function findInCauses<E extends Error>(cause: unknown, kind: abstract new (...parameters: never[]) => E): E | null {
  for (let error = cause; error instanceof Error; error = error.cause) if (error instanceof kind) return error;
  return null;
}

/** Returns the text of an error of a provider: its code, and its description if there is one. */
const errorText = (error: string, description: string | undefined) => oneLine(description ? `${error} ("${description}")` : error);

/** Returns an error of `provider-errors.ts` for an error the browser sends. Its text is not signed, so a visitor may have invented it. */
function authorizationError({ error, error_description: description, cause }: Library.AuthorizationResponseError): Error {
  const text = `The browser came back with an error, which is not verified: ${errorText(error, description)}`;
  return temporaryErrors.includes(error) ? new ProviderUnavailable(text, { cause }) : new ResponseRefused(text, { cause });
}

/** Thrown if the caller could not store a refresh token. `cause` is the caller's error, not an error of the provider. */
export class TokenStoreError extends Error {}

/** Returns an error of `provider-errors.ts` for an error of openid-client. Returns the cause of a `TokenStoreError` unchanged. */
export function providerError(library: typeof Library, cause: unknown): Error {
  const storeError = findInCauses(cause, TokenStoreError);
  if (storeError?.cause instanceof Error) return storeError.cause;
  const portError = findInCauses(cause, ProviderUnavailable) ?? findInCauses(cause, ProviderRefused);
  if (portError) return portError;
  const responseError = findInCauses(cause, library.AuthorizationResponseError);
  if (responseError) return authorizationError(responseError);
  const body = findInCauses(cause, library.ResponseBodyError);
  if (body) {
    const text = `The provider refused a request: ${errorText(body.error, body.error_description)}`;
    return body.error === 'invalid_grant' ? new ResponseRefused(text, { cause }) : new ProviderRefused(text, { cause });
  }
  const client = findInCauses(cause, library.ClientError);
  if (client?.code === 'OAUTH_TIMEOUT' || client?.code === 'OAUTH_ABORT')
    return new ProviderUnavailable('The provider did not respond in time.', { cause });
  const details = client
    ? oneLine(client.cause instanceof Error ? `${client.message}: ${client.cause.message}` : client.message)
    : 'unknown error';
  return new ResponseInvalid(`The response of the provider failed a check: ${details}`, { cause });
}
