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
function inCauses<E extends Error>(cause: unknown, kind: abstract new (...parameters: never[]) => E): E | null {
  for (let error = cause; error instanceof Error; error = error.cause) if (error instanceof kind) return error;
  return null;
}

/** Returns an error of a provider in words: its code, and its description if there is one. */
const inWords = (error: string, description: string | undefined) => oneLine(description ? `${error} ("${description}")` : error);

/** Returns the port's error for an error that the browser has brought back. Its text is not signed, so a visitor may have invented it. */
function errorInAddress({ error, error_description: description, cause }: Library.AuthorizationResponseError): Error {
  const text = `The browser came back with an error, which is not verified: ${inWords(error, description)}`;
  return temporaryErrors.includes(error) ? new ProviderUnavailable(text, { cause }) : new ResponseRefused(text, { cause });
}

/** A refresh token could not be stored. Its cause is an error of the caller, not of the provider. */
export class TokenStoreError extends Error {}

/** Returns the port's error for an error of openid-client, and the cause of `TokenStoreError` as it is. */
export function providerError(library: typeof Library, cause: unknown): Error {
  const storeError = inCauses(cause, TokenStoreError);
  if (storeError?.cause instanceof Error) return storeError.cause;
  const portError = inCauses(cause, ProviderUnavailable) ?? inCauses(cause, ProviderRefused);
  if (portError) return portError;
  const inAddress = inCauses(cause, library.AuthorizationResponseError);
  if (inAddress) return errorInAddress(inAddress);
  const body = inCauses(cause, library.ResponseBodyError);
  if (body) {
    const text = `The provider refused a request: ${inWords(body.error, body.error_description)}`;
    return body.error === 'invalid_grant' ? new ResponseRefused(text, { cause }) : new ProviderRefused(text, { cause });
  }
  const client = inCauses(cause, library.ClientError);
  if (client?.code === 'OAUTH_TIMEOUT' || client?.code === 'OAUTH_ABORT')
    return new ProviderUnavailable('The provider did not respond in time.', { cause });
  const details = client
    ? oneLine(client.cause instanceof Error ? `${client.message}: ${client.cause.message}` : client.message)
    : 'unknown error';
  return new ResponseInvalid(`The response of the provider failed a check: ${details}`, { cause });
}
