import type { OperatorProvider } from '#core/openid/operator-role.ts';
import type { Clock } from './clock.ts';
import type { Directories } from './directory.ts';
import type { Documents } from './documents.ts';
import type { Links } from './links.ts';
import type { Mail } from './mail.ts';
import type { MediaTypes } from './media.ts';
import type { OpenId } from './openid.ts';
import type { Passkeys } from './passkeys.ts';
import type { PasswordHash } from './password-hash.ts';
import type { Random } from './random.ts';
import type { SamlProviders } from './saml.ts';
import type { Signatures } from './signatures.ts';
import type { Storages } from './storages.ts';
import type { Store } from './store.ts';
import type { Totp } from './totp.ts';
import type { Vault } from './vault.ts';

/** The ports that a change may use in its transaction. None of them is asynchronous. */
export interface SyncPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly vault: Vault;
  readonly links: Links;
  /** Name of this process. It differs from those of all other processes on the same database. */
  readonly process: string;
}

/** Limits from the settings of the server, and `maxChangeTime`, which tests shorten. */
export interface Limits {
  /** Bytes of an uploaded file. */
  readonly maxFileSize: number;
  /** Days for which audit entries are kept. */
  readonly auditDays: number;
  /** Bytes that must be free on the disk of a SQLite database when a visitor begins a change, except for a deletion. */
  readonly minFreeSpace: number;
  /** Time in ms after which a visitor gets a response even if the storage has not finished their change. */
  readonly maxChangeTime: number;
}

/** All ports that features use. Each feature declares those that it needs. */
export interface Ports extends SyncPorts {
  readonly documents: Documents;
  readonly signatures: Signatures;
  readonly store: Store;
  readonly storages: Storages;
  readonly passwordHash: PasswordHash;
  readonly openId: OpenId;
  readonly saml: SamlProviders;
  readonly directories: Directories;
  readonly totp: Totp;
  readonly passkeys: Passkeys;
  readonly media: MediaTypes;
  readonly limits: Limits;
  /** null: no operator signs in at a provider. */
  readonly operatorProvider: OperatorProvider | null;
  /** null: no mail server is configured. */
  readonly mail: Mail | null;
}
