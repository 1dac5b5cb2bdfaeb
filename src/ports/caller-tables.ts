import type { Generated } from 'kysely';

export interface ApiKeyTable {
  id: Generated<number>;
  tid: number;
  version: number;
  name: string;
  role: string;
  hash: string;
  first_characters: string;
  expires_at: number | null;
  last_used_at: number | null;
  created_owner: string;
  created_at: number;
}

export interface ApiTokenTable {
  hash: string;
  key_id: number;
  expires_at: number;
}

/** An account of the console. */
export interface OperatorTable {
  id: Generated<number>;
  readonly tid: number;
  version: number;
  name: string;
  name_key: string;
  role: string;
  /** argon2id hash. */
  password_hash: string;
  /** A new password increments it, which ends all sessions of the operator. */
  session_epoch: number;
  last_sign_in_at: number | null;
  created_owner: string;
  updated_owner: string;
  created_at: number;
  updated_at: number;
}

export interface OperatorSessionTable {
  hash: string;
  operator_id: number;
  operator_epoch: number;
  created_at: number;
  used_at: number;
}

/** The one-time address at which the first operator can be created. */
export interface ConsoleInvitationTable {
  hash: string;
  expires_at: number;
}
