import type { FindTokensInUse, Storage } from './storage.ts';

/** A location with its decrypted configuration. */
export interface StorageLocation {
  readonly id: number;
  readonly tid: number;
  readonly kind: string;
  readonly configuration: string;
}

export interface Storages {
  /** Opens the storage of a location. Does not check that it answers. @throws StorageUnavailable if its configuration cannot be used */
  open(location: StorageLocation): Promise<Storage>;
  /**
   * Returns what is wrong with the configuration of a location, or null if the tenant may store it.
   * @param others locations of other tenants that must not overlap this one (`exclusiveKinds`); none for most kinds
   */
  configurationError(location: Omit<StorageLocation, 'id'>, others: readonly StorageLocation[]): Promise<string | null>;
  /**
   * Deletes the files that uploads have left outside of all locations, except those of pending uploads. Absent: there are no such files.
   * @param signal ends a sweep that takes too long
   */
  sweep?(findTokensInUse: FindTokensInUse, signal?: AbortSignal): Promise<void>;
}
