import { siteOf } from '#core/client-networks.ts';
import { formatDay } from '#core/instant.ts';
import type { Vault } from '#ports/vault.ts';
import type { VisitEvent } from './visit-event.ts';

const idBytes = 6;

/**
 * Returns the number in the trace marks of the files that a visitor gets. It is the same for equal downloads of one day, so that it is known
 * before the audit entry exists. Visitors who have not signed in share it if they share a site. Nobody can compute it without the secret key, so nobody can make a file that names another visitor.
 * @param now ms since the epoch
 * @returns less than 2^48
 */
export function traceIdOf(vault: Vault, { link, visitor, visitorRequest, action, path }: VisitEvent, now: number): number {
  const download = [link?.tid, link?.id, visitor?.identityKey, siteOf(visitorRequest.address), action, path, formatDay(now)];
  return Buffer.from(vault.mac('trace', JSON.stringify(download)), 'base64url').readUIntBE(0, idBytes);
}
