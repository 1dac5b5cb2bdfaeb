import type { ColumnType, Generated } from 'kysely';

export interface AuditTable {
  id: ColumnType<number, number | undefined, never>;
  tid: number;
  at: number;
  actor: string;
  actor_kind: 'key' | 'operator' | 'visitor' | 'system';
  address: string;
  action: string;
  outcome: 'done' | 'refused' | 'failed' | 'begun';
  share_id: number | null;
  share_title: string;
  view_id: string;
  path: string;
  bytes: number | null;
  before: string | null;
  after: string | null;
  request_id: string;
  count: number;
  search_text: string;
  /** Where the action is under way; null: it never was, or is told by its outcome. */
  process: string | null;
}

/** Equal actions of one visitor that are told as one row, until the instant. */
export interface OpenEntryTable {
  tid: number;
  key: string;
  audit_id: number;
  until: number;
}

/** An e-mail that is owed; a later issue sends it. */
export interface AlertTable {
  id: Generated<number>;
  tid: number;
  share_id: number;
  audit_id: number;
  action: string;
  /** The addresses that it goes to, by the digest of their list. */
  list: string;
  created_at: number;
}

/** Addresses that alerts go to, as shares name them. */
export interface AlertListTable {
  tid: number;
  digest: string;
  emails: string;
}

/** What an action needs to be settled by after a crash; gone with its outcome. */
export interface PendingChangeTable {
  tid: number;
  audit_id: number;
  location_id: number;
  /** Path of the folder within the location. */
  parent: string;
  name: string;
  new_name: string;
  token: string;
  process: string;
}
