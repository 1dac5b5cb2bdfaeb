import type { VisitAudit } from '#features/audit/visit-audit.ts';
import type { NetworkLimit } from '#features/rate-limits/network-limit.ts';
import type { CodeTurns } from '#features/turns/code-turns.ts';
import type { ClientTurns } from '#features/turns/search-turns.ts';
import type { ArchivePlans } from '#features/visits/archives/archive-plans.ts';
import type { DocumentTurns } from '#features/visits/documents/document-turns.ts';
import type { DrawnMemory } from '#features/visits/documents/drawn-memory.ts';
import type { ChangesInTurn } from '#features/visits/files/changes-in-turn.ts';
import type { FormatListing } from '#features/visits/files/listing-json.ts';
import type { ListingTurns } from '#features/visits/files/listing-turns.ts';
import type { UploadHashes } from '#features/visits/resumable-uploads/upload-hashes.ts';
import type { UploadWriters } from '#features/visits/resumable-uploads/upload-writers.ts';
import type { SessionRenewals } from '#features/visits/sessions/renew-session.ts';
import type { VerifiedPasswords } from '#features/visits/sessions/verified-passwords.ts';
import type { UploadSlots } from '#features/visits/transfers/upload-slots.ts';
import type { Ports } from '#ports/ports.ts';
import type { SignInKinds } from '#ports/sign-in.ts';

/** What the visits of a process share: its audit log, the ways to sign in, and what it keeps in memory, such as limits and queues. */
export interface VisitServices {
  readonly audit: VisitAudit;
  readonly signInKinds: SignInKinds;
  readonly renewals: SessionRenewals;
  readonly verifiedPasswords: VerifiedPasswords;
  readonly newSessions: NetworkLimit;
  readonly newCodes: NetworkLimit;
  readonly providerRequests: NetworkLimit;
  readonly codes: CodeTurns;
  /** Tokens of the file changes that this process is making or recovering. */
  readonly runningChanges: Set<string>;
  readonly changes: ChangesInTurn;
  readonly uploads: UploadSlots;
  readonly uploadWriters: UploadWriters;
  readonly uploadHashes: UploadHashes;
  readonly listings: ListingTurns;
  readonly formatListing: FormatListing;
  readonly archives: ArchivePlans;
  readonly documentTurns: DocumentTurns;
  readonly officeTurns: DocumentTurns;
  readonly drawnMemory: DrawnMemory;
  readonly searches: ClientTurns;
  readonly portals: ClientTurns;
}

/** Everything that the operations of visitors use. Each of them declares what it needs. */
export type VisitPorts = Ports & VisitServices;
