import { siteOf } from '#core/client-networks.ts';
import { formatDay } from '#core/instant.ts';
import type { Vault } from '#ports/vault.ts';
import type { VisitEvent } from './visit-event.ts';

const idBytes = 6;

/**
 * Returns the number in the trace marks of the files that a visitor gets. Equal downloads on one day in UTC, by one visitor from one site,
 * get the same number, which is thus known before the audit entry exists. Visitors of one site who have not signed in get the same number
 * for equal downloads. Without the secret key, nobody can compute the number of another visitor.
 * @param now ms since the epoch
 * @returns less than 2^48
 */
export function traceIdOf(vault: Vault, { link, visitor, visitorRequest, action, path }: VisitEvent, now: number): number {
  const download = [link?.tid, link?.id, visitor?.identityKey, siteOf(visitorRequest.address), action, path, formatDay(now)];
  return Buffer.from(vault.mac('trace', JSON.stringify(download)), 'base64url').readUIntBE(0, idBytes);
}
