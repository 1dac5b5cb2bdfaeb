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
  /** argon2id. */
  password_hash: string;
  /** Raised by a new password: it ends the operator's sessions. */
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

/** An address at which the first operator may be made. */
export interface ConsoleInvitationTable {
  hash: string;
  expires_at: number;
}
