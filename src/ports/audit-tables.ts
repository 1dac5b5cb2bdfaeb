import type { ColumnType, Generated } from 'kysely';

/** The audit log: one row per entry. */
export interface AuditTable {
  id: ColumnType<number, number | undefined, never>;
  tid: number;
  /** Milliseconds since the epoch. */
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
  /** Number of equal actions that this entry stands for. */
  count: number;
  search_text: string;
  /** Process that began the action as pending; the value stays when the outcome is recorded. null: the action was never pending. */
  process: string | null;
  /**
   * Key of the visitor's identity (features/audit/identity-key.ts); null: no visitor has signed in, or an earlier version wrote the entry.
   */
  identity_key: Generated<string | null>;
  /** Number in the trace marks of the files that the visitor got (features/audit/trace-id.ts); null: they carry none. */
  trace_id: Generated<number | null>;
}

/**
 * An audit entry that collects equal actions until the time `until`: those of one visitor at one site, or of all visitors at a site who
 * have not signed in.
 */
export interface OpenEntryTable {
  tid: number;
  key: string;
  audit_id: number;
  until: number;
}

/** An alert that no mail contains yet. The row is deleted when its mail is planned, or after three days. */
export interface AlertTable {
  tid: number;
  share_id: number;
  /**
   * Alerts with the same value share a mail. Value: the key of the visitor's identity, or else the site of the IP address. Alerts from a
   * restored backup all have the same value (features/alerts/enqueue-alert.ts).
   */
  visitor: string;
  audit_id: number;
  action: string;
  created_at: number;
}

/** A file that a visitor uploads in parts (tus). Bytes are durable before the row counts them. */
export interface ResumableUploadTable {
  /** Identifies the upload in its address. */
  id: string;
  readonly tid: number;
  readonly share_id: number;
  readonly location_id: number;
  /** `SignedInVisitor.identityKey`; empty: the visitor has not signed in. */
  readonly identity_key: string;
  /** Display name of the visitor; empty: the visitor has not signed in. */
  readonly visitor: string;
  /** The narrow and the wide network from which the upload was begun. */
  readonly network: string;
  readonly wide_network: string;
  /** Path of the file in the share. */
  readonly path: string;
  /** Path of the file in the location. */
  readonly location_path: string;
  /** 1: the upload was begun at a drop box, so its file gets a number if the name is in use. */
  readonly drop_box: number;
  /** Bytes of the complete file. */
  readonly size: number;
  /** Durable bytes. The last byte counts only when the file is in place, so that this byte can be sent again if placing the file failed. */
  received: number;
  /** Names the staging file. */
  readonly token: string;
  /** What the storage needs besides the token; null: nothing. */
  handle: string | null;
  /** The Upload-Metadata of the client, which HEAD returns. */
  readonly metadata: string;
  /** The process that has claimed the upload to receive a part; null: none has. The process may have ended since. */
  holder: string | null;
  /** Name of the complete file; null: it is not complete. */
  stored_name: string | null;
  /** SHA-256 of the complete file, hexadecimal; null: not known. */
  sha256: string | null;
  /** The upload ends at this time, in ms, unless bytes arrive. */
  expires_at: number;
}

/** A pending change of files: what recovery needs to know after a crash. The row is deleted when the outcome is recorded. */
export interface PendingChangeTable {
  tid: number;
  audit_id: number;
  location_id: number;
  /** Path of the folder within the location. */
  parent: string;
  name: string;
  new_name: string;
  /** Names the files of the change in the staging area. */
  token: string;
  process: string;
  /** What recovery of an upload needs besides the token; null: nothing. */
  handle: string | null;
  /** Bytes and files that an upload in one request claims in the quotas while it runs. */
  bytes: Generated<number>;
  files: Generated<number>;
  /** When the change was last known to run, in ms since the epoch; 0: it has not begun, or its location is a local folder. */
  started: Generated<number>;
  /** 1: the change has passed its checks, and is being made at the service; 0: it waits for other changes. */
  running: Generated<number>;
  /**
   * Place of the item at the service (features/visits/files/overlapping-changes.ts); empty: the change has not begun, or its location is a
   * local folder.
   */
  place: Generated<string>;
  /** Place of the item after a rename; empty: it keeps its place, or `place` is empty. */
  new_place: Generated<string>;
}
