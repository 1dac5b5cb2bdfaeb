import { newCodeLimit, newSessionLimit, providerRequestLimit } from '#features/rate-limits/network-limit.ts';
import { codeTurns } from '#features/turns/code-turns.ts';
import { portalTurns } from '#features/turns/search-turns.ts';
import { ArchivePlans } from '#features/visits/archives/archive-plans.ts';
import { changesInTurn } from '#features/visits/files/changes-in-turn.ts';
import { listingFormatter } from '#features/visits/files/listing-json.ts';
import { uploadSlots } from '#features/visits/transfers/upload-slots.ts';
import type { Ports } from '#ports/ports.ts';

/** Creates the limits on how much visitors do at one time. */
export const visitLimits = ({ clock, limits }: Pick<Ports, 'clock' | 'limits'>) => ({
  archives: new ArchivePlans(),
  changes: changesInTurn(limits.maxChangeTime),
  uploads: uploadSlots(),
  newSessions: newSessionLimit(clock),
  newCodes: newCodeLimit(clock),
  providerRequests: providerRequestLimit(clock),
  codes: codeTurns(),
  portals: portalTurns(),
  formatListing: listingFormatter(),
});
