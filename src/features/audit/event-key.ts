import { networkOf } from '#core/policy/address-range.ts';
import { sha256 } from '#features/records/sha256.ts';
import type { VisitEvent } from './visit-audit.ts';

/** Longest key that is kept in memory as it is; bytes. */
const longestKey = 512;
const compact = (key: string) => (key.length <= longestKey ? key : sha256(key));

/** A network that varies its address is still one visitor: an IPv6 one has 65,536 networks of its own. */
export const visitorNetwork = (address: string) => (address.includes(':') ? networkOf(address, 32, 48) : address);

/** What equal happenings have in common. Long parts come from outside: thousands of them would fill the memory. */
export const eventKey = (event: VisitEvent, version: string | null) =>
  compact(
    JSON.stringify([
      event.link?.id,
      event.tid,
      event.visitor?.userId,
      event.visitor?.name,
      visitorNetwork(event.visitorRequest.address),
      event.action,
      event.outcome,
      event.path,
      event.after,
      version,
    ]),
  );
