import type { Generated } from 'kysely';
import type { AlertListTable, AlertTable, AuditTable, OpenEntryTable, PendingChangeTable } from './audit-tables.ts';
import type { ApiKeyTable, ApiTokenTable, ConsoleInvitationTable, OperatorSessionTable, OperatorTable } from './caller-tables.ts';
import type { JobTable } from './job-tables.ts';

/** Flags are 0 or 1 and times integer milliseconds since the epoch, in every engine. */
export type Flag = 0 | 1;

interface Owned {
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
  /** null: shares need not end. */
  longest_validity_days: Generated<number | null>;
  sign_in_required: Generated<number>;
  /** Names of permissions, separated by commas; empty: none are proposed. */
  default_permissions: Generated<string>;
  created_at: number;
}

export interface LoginProfileTable extends Owned {
  id: Generated<number>;
  title: string;
  description: string;
  ip_range: string;
  /** The same as PackedRanges; null: it was stored by a version that kept them in no other form. */
  ip_bounds: Generated<string | null>;
  type_id: number;
  view_id: string;
  username: string;
  username_key: string;
  /** Sealed; empty: none. */
  password: string;
  lang: string;
  startup_message: string;
  /** Sealed; empty: none. */
  configuration: string;
  /** Raised by whatever ends the sessions of the profile, or of the user. */
  session_epoch: number;
  search_text: string;
  /** 1: made for the password of one link, and deleted with its last share. */
  for_link: Generated<number>;
}

export interface AccessUserTable extends Owned {
  id: Generated<number>;
  profile_id: number;
  username: string;
  username_key: string;
  first_name: string;
  last_name: string;
  email: string;
  email_key: string;
  /** argon2id; null: none yet. */
  password_hash: string | null;
  active: Flag;
  session_epoch: number;
  search_text: string;
}

export interface ShareTable extends Owned {
  id: Generated<number>;
  title: string;
  location_id: number;
  path: string;
  /** The path in one spelling, for search. */
  path_key: string;
  /** How many names its lists have; a hint (migrations/0005-long-lists). */
  listed_names: number;
  profile_id: number;
  view_id: string;
  notify_emails: string;
  description: string;
  startup_message: string;
  can_delete: Flag;
  can_upload: Flag;
  can_create_folder: Flag;
  can_download: Flag;
  can_download_folder: Flag;
  can_view: Flag;
  can_rename: Flag;
  alert_delete: Flag;
  alert_upload: Flag;
  alert_create_folder: Flag;
  alert_download: Flag;
  alert_view: Flag;
  alert_rename: Flag;
  copy_protect: Flag;
  water_mark_text: string;
  digital_sign_reason: string;
  digital_signature: Flag;
  allow_all_users: Flag;
  valid_from: number | null;
  valid_to: number | null;
  proxy_mode: Flag;
  folder: Flag;
  active: Flag;
  search_text: string;
}

export interface ShareUserTable {
  tid: number;
  share_id: number;
  position: number;
  name: string;
  name_key: string;
  /** The access user of a USERS profile; for other kinds the name stands for itself. */
  user_id: number | null;
}

export interface ShareGroupTable {
  tid: number;
  share_id: number;
  position: number;
  name: string;
  name_key: string;
}

/** Every address that was ever in use: it stays its tenant's. */
export interface LinkTable {
  view_key: string;
  tid: number;
  share_id: number | null;
  profile_id: number | null;
}

export interface LocationTable extends Owned {
  id: Generated<number>;
  name: string;
  kind: string;
  /** Sealed. */
  configuration: string;
  search_text: string;
}

export interface IdempotencyTable {
  tid: number;
  caller: string;
  key: string;
  fingerprint: string;
  status: number;
  /** Sealed. */
  answer: string;
  created_at: number;
  /** Audit entry of the change while it is under way; null: it took place. */
  audit_id: number | null;
}

export interface VisitSessionTable {
  tid: number;
  hash: string;
  profile_id: number;
  profile_epoch: number;
  user_id: number | null;
  user_epoch: number | null;
  name: string;
  created_at: number;
  used_at: number;
}

/** Who counted for a login profile: one row for each, so that nobody waits. Its counts are the sums. */
interface Counted {
  tid: number;
  profile_id: number;
  slot: number;
  /** Raised by each change of a record that is counted. */
  changes: number;
}

export interface ShareCountTable extends Counted {
  shares: number;
}

export interface UserCountTable extends Counted {
  users: number;
  active_users: number;
}

export interface FailureTable {
  id: Generated<number>;
  key: string;
  at: number;
}

/** A run of the program that lives. */
export interface ProcessTable {
  name: string;
  seen_at: number;
}

/** The one key that the secrets of this database are sealed with, by its fingerprint. */
export interface SecretKeyTable {
  fingerprint: string;
}

export interface Database {
  process: ProcessTable;
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
  link: LinkTable;
  location: LocationTable;
  api_key: ApiKeyTable;
  api_token: ApiTokenTable;
  operator: OperatorTable;
  operator_session: OperatorSessionTable;
  console_invitation: ConsoleInvitationTable;
  idempotency: IdempotencyTable;
  audit: AuditTable;
  ongoing: OpenEntryTable;
  alert: AlertTable;
  alert_list: AlertListTable;
  unsettled: PendingChangeTable;
  visit_session: VisitSessionTable;
  failure: FailureTable;
}
