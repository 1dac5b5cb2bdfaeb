import type { Clock } from './clock.ts';
import type { Links } from './links.ts';
import type { MediaTypes } from './media.ts';
import type { PasswordHash } from './password-hash.ts';
import type { Random } from './random.ts';
import type { Storages } from './storages.ts';
import type { Store } from './store.ts';
import type { Vault } from './vault.ts';

/** What a change may use beside its transaction: nothing that waits. */
export interface InstantPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly vault: Vault;
  readonly links: Links;
  /** Names this run of the program among those that share its database. */
  readonly process: string;
}

/** Everything outside that features reach; each takes the two or three that it needs. */
export interface Ports extends InstantPorts {
  readonly store: Store;
  readonly storages: Storages;
  readonly passwordHash: PasswordHash;
  readonly media: MediaTypes;
  /** The operator's limits. */
  readonly limits: { readonly maxFileSize: number; readonly auditDays: number; readonly minFreeSpace: number };
}
