import { siteOf } from '#core/client-networks.ts';
import { sha256 } from '#features/records/sha256.ts';
import type { VisitEvent } from './visit-event.ts';

/** In characters. A longer key is replaced by its hash. */
const maxKeyLength = 512;
const compact = (key: string) => (key.length <= maxKeyLength ? key : sha256(key));

/** Returns a key that is the same for equal events. Long keys are hashed: clients send long paths, which would fill the memory. */
export const eventKey = (event: VisitEvent, version: string | null) =>
  compact(
    JSON.stringify([
      event.link?.id,
      event.tid,
      event.visitor?.identityKey,
      siteOf(event.visitorRequest.address),
      event.action,
      event.outcome,
      event.path,
      event.after,
      version,
      event.traceId,
    ]),
  );
