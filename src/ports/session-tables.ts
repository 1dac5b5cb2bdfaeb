import type { Generated } from 'kysely';

/** A network from which a user of a directory has signed in. */
export interface KnownNetworkTable {
  tid: number;
  profile_id: number;
  subject: string;
  /** IPv4 address or IPv6 /64. */
  network: string;
  seen_at: number;
}

export interface UsedStatementTable {
  tid: number;
  profile_id: number;
  /** Hash of the ID that the provider has given to the statement. */
  statement_key: string;
  /** When the statement is too old to be used. */
  until: number;
  /** The statement, encrypted, while it waits for the next request of its browser; null: it was used. */
  parked: string | null;
}

export interface VisitSessionTable {
  tid: number;
  hash: string;
  profile_id: number;
  profile_epoch: number;
  user_id: number | null;
  user_epoch: number | null;
  /** Display name of the visitor. */
  name: string;
  /** `StoredIdentity` as JSON; null: the row was written by a version without this column. */
  identity: Generated<string | null>;
  /** `CompletedSignIn.renewal`; null: the sign-in cannot be renewed. */
  renewal: Generated<string | null>;
  /** Until this time, by the clock of the database, a process may be sending a request to the provider; null: no process is. */
  renewing_until: Generated<number | null>;
  /** Name that the provider gives to the session (`sid`); null: none. */
  provider_session: Generated<string | null>;
  /** Subject of a visitor whose provider may end the session; null: no provider may. */
  provider_subject: Generated<string | null>;
  created_at: number;
  used_at: number;
}
