import { type CodeMeaning, type Method, ServiceError, serviceErrorOf } from '#adapters/storage/objects/service-errors.ts';
import type { OutboundResponse } from '#ports/outbound.ts';
import { ChangeImpossible, ItemArchived, StorageUnavailable } from '#ports/storage-errors.ts';

/** Meanings of the error codes that an operator can do something about, and of the code for too many requests. */
const meanings: ReadonlyMap<string, CodeMeaning> = new Map(
  Object.entries({
    AuthenticationFailed: { explanation: 'the account key, the SAS token or the clock of this machine is wrong', isSignIn: true },
    InvalidAuthenticationInfo: { explanation: 'the credentials are wrong', isSignIn: true },
    KeyBasedAuthenticationNotPermitted: { explanation: 'the account does not accept its key', isSignIn: true },
    AccountIsDisabled: { explanation: 'the account is disabled', isSignIn: true },
    NoAuthenticationInformation: { explanation: 'the account does not accept these credentials', isSignIn: true },
    AuthorizationFailure: {
      explanation: 'the credentials are wrong or may not do this, or the firewall of the account refuses this machine',
      isSignIn: true,
    },
    AuthorizationPermissionMismatch: { explanation: 'the credentials may not do this' },
    InsufficientAccountPermissions: { explanation: 'the account may not do this' },
    ResourceNotFound: { explanation: 'there is no such account or container' },
    ContainerNotFound: { explanation: 'there is no such container' },
    FilesystemNotFound: { explanation: 'there is no such container' },
    ContainerBeingDeleted: { explanation: 'the container is being deleted' },
    InvalidBlobOrBlock: { explanation: 'another program has begun to upload this file in blocks of another kind' },
    ServerBusy: { isThrottling: true },
  }),
);

/** Errors that no caller expects, although their status is the same as for an absent blob or a failed condition. */
const neverExpected = [
  ...['ContainerNotFound', 'ContainerBeingDeleted', 'FilesystemNotFound', 'FilesystemBeingDeleted'],
  ...['ResourceNotFound', 'BlobArchived', 'LeaseIdMissing'],
];
/** Why a blob cannot be written. */
const impossibleReasons: ReadonlyMap<string, string> = new Map([
  ['LeaseIdMissing', 'Another program holds a lease on this file, so that it cannot be changed'],
  ['AuthorizationPermissionMismatch', 'The service does not permit this change'],
  ['InsufficientAccountPermissions', 'The service does not permit this change'],
  ['BlobImmutableDueToPolicy', 'An immutability policy of the container protects this file'],
]);

/** Returns the error for an account with real folders, if the configuration does not say so. */
export const hierarchicalNamespaceError = () =>
  new StorageUnavailable('the account has a hierarchical namespace, so the configuration needs hierarchicalNamespace: true');
/** Returns the error for an account without real folders, if the configuration says that it has them. */
export const flatNamespaceError = () =>
  new StorageUnavailable('the account has no hierarchical namespace, so the configuration must not have hierarchicalNamespace: true');

/** Returns the code of an error, or "no code". */
export function azureCodeOf({ headers }: OutboundResponse): string {
  const code = headers['x-ms-error-code'] ?? '';
  return /^[A-Za-z0-9.]{1,64}$/.test(code) ? code : 'no code';
}

/** Returns whether the caller expects the status of a response. Returns false for the codes in `neverExpected`. */
export const isExpected = (response: OutboundResponse, statuses: readonly number[] = []): boolean =>
  statuses.includes(response.status) && !neverExpected.includes(azureCodeOf(response));

export function azureError(method: Method, response: OutboundResponse): Error {
  const code = azureCodeOf(response);
  const reason = method === 'PUT' ? impossibleReasons.get(code) : undefined;
  return reason === undefined ? new ServiceError(response.status, code, meanings.get(code)) : new ChangeImpossible(reason);
}

/** Throws ItemArchived if a blob must be restored before it can be read. Throws all other causes unchanged. */
export function rethrowReadError(cause: unknown): never {
  if (serviceErrorOf(cause)?.code === 'BlobArchived') throw new ItemArchived('the blob is archived', { cause });
  throw cause;
}
