import { newCodeLimit, newSessionLimit, providerRequestLimit } from '#features/rate-limits/network-limit.ts';
import { codeTurns } from '#features/turns/code-turns.ts';
import { portalTurns } from '#features/turns/search-turns.ts';
import { ArchivePlans } from '#features/visits/archives/archive-plans.ts';
import { documentTurns, officeTurns } from '#features/visits/documents/document-turns.ts';
import { drawnMemory } from '#features/visits/documents/drawn-memory.ts';
import { changesInTurn } from '#features/visits/files/changes-in-turn.ts';
import { listingFormatter } from '#features/visits/files/listing-json.ts';
import { UploadHashes } from '#features/visits/resumable-uploads/upload-hashes.ts';
import { UploadWriters } from '#features/visits/resumable-uploads/upload-writers.ts';
import { uploadSlots } from '#features/visits/transfers/upload-slots.ts';
import type { Ports } from '#ports/ports.ts';

/** Creates the limits, queues and other state that the requests of visitors share within this process. */
export const createVisitLimits = ({ clock, limits }: Pick<Ports, 'clock' | 'limits'>) => ({
  archives: new ArchivePlans(),
  documentTurns: documentTurns(),
  officeTurns: officeTurns(),
  drawnMemory: drawnMemory(),
  changes: changesInTurn(limits.maxChangeTime),
  uploads: uploadSlots(),
  uploadWriters: new UploadWriters(() => performance.now()),
  uploadHashes: new UploadHashes(),
  newSessions: newSessionLimit(clock),
  newCodes: newCodeLimit(clock),
  providerRequests: providerRequestLimit(clock),
  codes: codeTurns(),
  portals: portalTurns(),
  formatListing: listingFormatter(),
});
