import type { Generated } from 'kysely';
import type { storedUserFields } from '#core/records/access-user.ts';
import type { storedProfileFields } from '#core/records/login-profile.ts';
import type { storedShareFields } from '#core/records/share.ts';
import type { ColumnsOf } from '#core/records/stored-fields.ts';
import type { AlertTable, AuditTable, OpenEntryTable, PendingChangeTable, ResumableUploadTable } from './audit-tables.ts';
import type {
  ApiKeyTable,
  ApiTokenTable,
  ConsoleInvitationTable,
  OperatorSessionTable,
  OperatorTable,
  RecoveryCodeTable,
  SecondFactorTable,
} from './caller-tables.ts';
import type { HeldNameTable, ProcessTable, SecretKeyTable, SignatureTable } from './installation-tables.ts';
import type { JobTable } from './job-tables.ts';
import type { AlertDigestTable, DeliveryTable, MailContentTable, SignInCodeTable, UnsubscriptionTable } from './mail-tables.ts';
import type { CountChangeTable, CountedFolderTable, UsedSpaceTable } from './quota-tables.ts';
import type { KnownNetworkTable, UsedStatementTable, VisitSessionTable } from './session-tables.ts';

/**
 * Columns that login profiles, access users, shares and locations have in common. Times are integers in milliseconds since the epoch, in
 * every table.
 */
interface ManagedTable {
  readonly tid: number;
  version: number;
  created_owner: string;
  updated_owner: string;
  created_at: number;
  updated_at: number;
}

export interface TenantTable {
  id: Generated<number>;
  title: string;
  default_profile_id: number | null;
  /** null: no limit. */
  longest_validity_days: Generated<number | null>;
  sign_in_required: Generated<number>;
  second_factor_required: Generated<number>;
  /** Names of permissions, separated by commas; empty: no defaults. */
  default_permissions: Generated<string>;
  created_at: number;
}

export interface LoginProfileTable extends ManagedTable, ColumnsOf<typeof storedProfileFields> {
  id: Generated<number>;
  /** `ip_range` as PackedRanges; null: the row was written by a version without this column. */
  ip_bounds: Generated<string | null>;
  type_id: number;
  view_id: string;
  username_key: string;
  /** Encrypted; empty: none. */
  password: string;
  /** Encrypted; empty: none. */
  configuration: string;
  /** Changes that end the sessions of the profile increment it. */
  session_epoch: number;
  search_text: string;
  /** 1: created for the password of one link. Such a profile is deleted with its last share, unless it has users or is the default. */
  for_link: Generated<number>;
}

export interface AccessUserTable extends ManagedTable, ColumnsOf<typeof storedUserFields> {
  id: Generated<number>;
  profile_id: number;
  username_key: string;
  email_key: string;
  /** argon2id hash; null: no password yet. */
  password_hash: string | null;
  /** Changes that end the sessions of the user increment it. */
  session_epoch: number;
  search_text: string;
}

export interface ShareTable extends ManagedTable, ColumnsOf<typeof storedShareFields> {
  id: Generated<number>;
  location_id: number;
  path: string;
  /** The path in normalized form, for search and quotas. */
  path_key: string;
  /** Approximate number of names in the share's lists: deleting a user does not change it (migrations/0005-long-lists). */
  listed_names: number;
  profile_id: number;
  view_id: string;
  notify_emails: string;
  valid_from: number | null;
  valid_to: number | null;
  search_text: string;
  /** Limits of what the folder of the share holds; null: none. */
  max_bytes: Generated<number | null>;
  max_files: Generated<number | null>;
}

export interface ShareUserTable {
  tid: number;
  share_id: number;
  position: number;
  name: string;
  name_key: string;
  /** The access user, if the profile is of type USERS; null if none was found for the name. For other types null: only the name counts. */
  user_id: number | null;
}

/** How often users were removed from a share's list because they were deleted or moved to another login profile. Counted by triggers. */
export interface ShareListChangeTable {
  tid: number;
  share_id: number;
  /** Is part of the version of the share (features/records/share-version.ts). */
  changes: number;
}

export interface ShareGroupTable {
  tid: number;
  share_id: number;
  position: number;
  name: string;
  name_key: string;
}

/** All viewIds that were ever in use. A viewId stays with its tenant, so that no other tenant can take it over. */
export interface LinkTable {
  view_key: string;
  tid: number;
  share_id: number | null;
  profile_id: number | null;
}

export interface LocationTable extends ManagedTable {
  id: Generated<number>;
  name: string;
  kind: string;
  /** Encrypted. */
  configuration: string;
  search_text: string;
  /** Limits of what the location holds; null: none. */
  max_bytes: Generated<number | null>;
  max_files: Generated<number | null>;
}

export interface IdempotencyTable {
  tid: number;
  caller: string;
  key: string;
  fingerprint: string;
  status: number;
  /** Encrypted. */
  answer: string;
  created_at: number;
  /** Audit entry of the change while it is pending; null: the change has taken place. */
  audit_id: number | null;
}

/**
 * Counts of a login profile, in several rows so that concurrent changes do not wait for each other. The count is the sum of
 * the rows.
 */
interface ProfileCountTable {
  tid: number;
  profile_id: number;
  /** Number of the row: 0 on SQLite, the connection's process id modulo 64 on PostgreSQL. */
  slot: number;
  /** Each change of a counted record increments it. */
  changes: number;
}

export interface ShareCountTable extends ProfileCountTable {
  shares: number;
}

export interface UserCountTable extends ProfileCountTable {
  users: number;
  active_users: number;
}

/** An event that a rate limit counts, such as a failed attempt to sign in, a viewId conflict or a request for an unknown link. */
export interface FailureTable {
  id: Generated<number>;
  /** What the limit counts by, such as a network, or a pair of user and network. */
  key: string;
  at: number;
}

export interface Database {
  process: ProcessTable;
  held_name: HeldNameTable;
  signature: SignatureTable;
  secret_key: SecretKeyTable;
  job: JobTable;
  tenant: TenantTable;
  login_profile: LoginProfileTable;
  share_count: ShareCountTable;
  user_count: UserCountTable;
  access_user: AccessUserTable;
  share: ShareTable;
  share_user: ShareUserTable;
  share_group: ShareGroupTable;
  share_list_change: ShareListChangeTable;
  link: LinkTable;
  location: LocationTable;
  api_key: ApiKeyTable;
  api_token: ApiTokenTable;
  operator: OperatorTable;
  operator_session: OperatorSessionTable;
  second_factor: SecondFactorTable;
  recovery_code: RecoveryCodeTable;
  console_invitation: ConsoleInvitationTable;
  idempotency: IdempotencyTable;
  audit: AuditTable;
  ongoing: OpenEntryTable;
  alert: AlertTable;
  alert_digest: AlertDigestTable;
  mail_content: MailContentTable;
  delivery: DeliveryTable;
  unsubscribed: UnsubscriptionTable;
  unsettled: PendingChangeTable;
  resumable_upload: ResumableUploadTable;
  counted_folder: CountedFolderTable;
  used_space: UsedSpaceTable;
  count_change: CountChangeTable;
  visit_session: VisitSessionTable;
  known_network: KnownNetworkTable;
  used_statement: UsedStatementTable;
  sign_in_code: SignInCodeTable;
  failure: FailureTable;
}
