import { initialSchema } from './0001-first.ts';
import { consoleAccounts } from './0002-console.ts';
import { consoleListIndexes } from './0003-lists.ts';
import { portalIndex } from './0004-portal.ts';
import { listedNameCounts } from './0005-long-lists.ts';
import { tenantPolicies } from './0006-policies.ts';
import { pendingResponses } from './0007-answers-under-way.ts';
import { alertLists } from './0008-alert-lists.ts';
import { countsByStatement } from './0009-counts-by-statement.ts';
import { packedRanges } from './0010-packed-ranges.ts';
import { deletedProfileCounts } from './0011-ended-counts.ts';
import { jobs } from './0012-jobs.ts';
import { uploadHandles } from './0013-upload-handles.ts';
import { sessionIdentities } from './0014-session-identities.ts';
import { mail } from './0015-mail.ts';
import { signInCodes } from './0016-sign-in-codes.ts';
import { sessionRenewal } from './0017-session-renewal.ts';
import { profileId } from './0018-profile-id.ts';
import { knownNetworks } from './0019-known-networks.ts';
import { usedStatements } from './0020-used-statements.ts';
import { secondFactors } from './0021-second-factors.ts';
import { operatorProvider } from './0022-operator-provider.ts';
import { alertVisitors } from './0023-alert-visitors.ts';
import { alertKeys } from './0024-alert-keys.ts';
import { listedNameIndexes } from './0025-listed-names.ts';
import { resumableUploads } from './0026-resumable-uploads.ts';
import { quotas } from './0027-quotas.ts';
import { dropBoxUploads } from './0028-drop-box-uploads.ts';
import { shareUserIndex } from './0029-share-user-index.ts';
import { heldMails } from './0030-held-lists.ts';
import { pendingChangeIndexes } from './0031-pending-change-indexes.ts';
import { quotaCounts } from './0032-quota-counts.ts';
import { listChanges } from './0033-list-changes.ts';
import { claimedUploads } from './0034-claimed-uploads.ts';
import { heldNames } from './0035-held-names.ts';
import { signatures } from './0036-signatures.ts';
import { linkWithoutRowid } from './0037-link-without-rowid.ts';
import { copyProtectText } from './0038-copy-protect-text.ts';
import { traceIds } from './0039-trace-ids.ts';
import { startedChanges } from './0040-started-changes.ts';
import { tokenKeys } from './0041-token-keys.ts';
import { changePlaces } from './0042-change-places.ts';
import { runningChanges } from './0043-running-changes.ts';
import type { Migration } from './migration.ts';

/** All migrations, in the order in which they are applied. */
export const migrations: readonly Migration[] = [
  initialSchema,
  consoleAccounts,
  consoleListIndexes,
  portalIndex,
  listedNameCounts,
  tenantPolicies,
  pendingResponses,
  alertLists,
  countsByStatement,
  packedRanges,
  deletedProfileCounts,
  jobs,
  uploadHandles,
  sessionIdentities,
  mail,
  signInCodes,
  sessionRenewal,
  profileId,
  knownNetworks,
  usedStatements,
  secondFactors,
  operatorProvider,
  alertVisitors,
  alertKeys,
  listedNameIndexes,
  resumableUploads,
  quotas,
  dropBoxUploads,
  shareUserIndex,
  heldMails,
  pendingChangeIndexes,
  quotaCounts,
  listChanges,
  claimedUploads,
  heldNames,
  signatures,
  linkWithoutRowid,
  copyProtectText,
  traceIds,
  startedChanges,
  tokenKeys,
  changePlaces,
  runningChanges,
];
