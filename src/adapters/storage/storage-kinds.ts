import type { FindTokensInUse, Storage } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { StorageLocation, Storages } from '#ports/storages.ts';

/** A kind of storage that a location may have. */
export interface StorageKind extends AsyncDisposable {
  /** Opens the storage of a location of this kind. Does not check that it answers. */
  open(location: StorageLocation): Promise<Storage>;
  /** Returns what is wrong with a configuration, or null if the tenant may store it. @param others see `Storages` */
  configurationError(location: Omit<StorageLocation, 'id'>, others: readonly StorageLocation[]): Promise<string | null>;
  /**
   * Deletes the files that ended uploads have left in a folder outside of the locations. Absent: the kind has no such folder, or
   * another kind, which shares the folder, deletes them.
   */
  sweep?(findTokensInUse: FindTokensInUse, signal?: AbortSignal): Promise<void>;
}

/** Returns the storages of all locations. The kind of a location selects the adapter. @param kinds by the name that location rows store */
export function storagesByKind(kinds: Readonly<Record<string, StorageKind>>): Storages & AsyncDisposable {
  const notAvailable = (kind: string) => `locations of kind "${kind}" are not available`;
  return {
    async open(location) {
      const kind = kinds[location.kind];
      if (!kind) throw new StorageUnavailable(notAvailable(location.kind));
      return kind.open(location);
    },
    async configurationError(location, others) {
      return kinds[location.kind]?.configurationError(location, others) ?? notAvailable(location.kind);
    },
    async sweep(findTokensInUse, signal) {
      await Promise.all(Object.values(kinds).map((kind) => kind.sweep?.(findTokensInUse, signal)));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(Object.values(kinds).map((kind) => kind[Symbol.asyncDispose]()));
    },
  };
}
