import type { Storage } from './storage.ts';

/** A location as its row says, configuration opened. */
export interface Place {
  readonly id: number;
  readonly tid: number;
  readonly kind: string;
  readonly configuration: string;
}

/** The storages behind the locations. */
export interface Storages {
  /** What lies there; whether the place answers is told by its methods. @throws StorageAway where it cannot be reached at all */
  open(place: Place): Promise<Storage>;
  /** null: the tenant may add such a location; else what is wrong with its configuration. */
  fault(place: Omit<Place, 'id'>, others: readonly Place[]): Promise<string | null>;
}
