import type { AzureConfiguration } from '#core/records/location-configurations.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { AzureAddress } from './azure-address.ts';
import type { MachineTokens } from './machine-token.ts';
import { sharedKeyOf, type UnsignedRequest } from './shared-key.ts';

/** Adds the credentials to a request. @throws StorageUnavailable if there are none, or they cannot be fetched */
export type AuthorizeRequest = (request: UnsignedRequest) => Promise<Pick<UnsignedRequest, 'query' | 'headers'>>;

/** Returns the parameters of a SAS token. */
const sasQuery = (token: string) => Object.fromEntries(new URLSearchParams(token.replace(/^\?/, '')));

/** Returns a function that adds the credentials of a configuration to requests. */
export function azureCredentials(
  { accountKey, sasToken, useMachineCredentials = false }: AzureConfiguration,
  { account }: AzureAddress,
  machine: Pick<MachineTokens, 'get'>,
): AuthorizeRequest {
  if (useMachineCredentials)
    return async ({ query, headers }) => ({ query, headers: { ...headers, authorization: `Bearer ${await machine.get()}` } });
  if (accountKey !== undefined)
    return async (request) => ({
      query: request.query,
      headers: { ...request.headers, authorization: sharedKeyOf(account, accountKey, request) },
    });
  return async ({ query, headers }) => {
    if (sasToken === undefined) throw new StorageUnavailable('the configuration has no credentials');
    return { query: { ...query, ...sasQuery(sasToken) }, headers };
  };
}
