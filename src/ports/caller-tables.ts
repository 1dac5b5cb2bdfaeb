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
  /** argon2id hash; empty: the operator has no password. */
  password_hash: string;
  /** A change that must end all sessions of the operator, such as a new password, increments it. */
  session_epoch: number;
  last_sign_in_at: number | null;
  /** Issuer and subject of the user at the provider; null: none is connected. */
  provider_subject: Generated<string | null>;
  /** 1: a sign-in at the provider has created the operator, and each further sign-in there sets the role. */
  is_managed: Generated<number>;
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
  /** 1: the session began with a sign-in at the provider. */
  by_provider: Generated<number>;
}

export interface SecondFactorTable {
  id: Generated<number>;
  readonly operator_id: number;
  kind: 'totp' | 'passkey';
  title: string;
  /** Sealed: the secret of an app, or a passkey as JSON. */
  secret: string;
  /**
   * Of an app: the time step of the last code. Of a passkey: when its last challenge was created, ms since the epoch. Codes and challenges
   * that are not newer are refused, unless this value is so far in the future that a clock must have been wrong.
   */
  last_step: number;
  created_at: number;
  last_used_at: number | null;
}

/** A recovery code that has not been used yet. The database holds only its HMAC. */
export interface RecoveryCodeTable {
  operator_id: number;
  code_key: string;
}

/** A one-time address at which the first operator can be created. If tenant 1 has no admin, each start adds one for an hour. */
export interface ConsoleInvitationTable {
  hash: string;
  expires_at: number;
}
