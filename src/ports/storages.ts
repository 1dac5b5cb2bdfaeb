import type { Storage } from './storage.ts';

/** A location as its row says, configuration opened. */
export interface StorageLocation {
  readonly id: number;
  readonly tid: number;
  readonly kind: string;
  readonly configuration: string;
}

/** The storages behind the locations. */
export interface Storages {
  /** What lies there; whether the place answers is told by its methods. @throws StorageAway where it cannot be reached at all */
  open(place: StorageLocation): Promise<Storage>;
  /** null: the tenant may add such a location; else what is wrong with its configuration. */
  configurationError(place: Omit<StorageLocation, 'id'>, others: readonly StorageLocation[]): Promise<string | null>;
}
