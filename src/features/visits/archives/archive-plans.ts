import { setAndEvict } from '#core/bounded-map.ts';
import { type ArchiveVisitor, archiveTurns } from './archive-turns.ts';
import { type NameMemory, nameMemories } from './name-memory.ts';
import { type PieceMemory, pieceMemories } from './piece-memory.ts';
import { hasDescriptor, type PlacedItem, type ZipPlan } from './zip-plan.ts';

const maxEntriesInUse = 200_000; // entries of all plans in use, some 300 bytes each
const maxEntriesInPlanning = 400_000; // entries held in memory by all archives that are being planned
const maxWaitingPlans = { inner: 16, all: 512 };
const maxWaitingChecksums = { inner: 64, all: 1000 };
const maxCachedFiles = 50_000; // large files whose checksums are cached, some 150 bytes each
const maxCachedEntries = 3_200_000; // entries of archives whose checksums are cached, 5 bytes each
const archiveCost = 100; // fixed memory cost of a cached archive, as a number of entries

/** The CRC-32 of a file that is being read. */
export interface RunningChecksum {
  readonly checksum: Promise<number>;
  /** Callbacks of the other requests that wait for this checksum. Each is called after every piece. */
  readonly pieceListeners: Set<() => void>;
}

/** The CRC-32 of each file of an archive, by the file's index in the plan. The archives of a location share the CRC-32 of large files. */
export interface Checksums {
  get(index: number, item: PlacedItem): number | undefined;
  set(index: number, item: PlacedItem, crc: number): void;
  /** Checksums that are being computed, by index, so that two requests do not read the same file only for its checksum. */
  readonly running: Map<number, RunningChecksum>;
}

export interface PlanInUse {
  readonly plan: ZipPlan;
  readonly checksums: Checksums;
  /** Reads a slice of a file only for its checksum, in turns: to send a few bytes of an archive, gigabytes may have to be read. */
  readonly runInTurn: (readSlice: () => Promise<void>) => Promise<void>;
  /** Must be called when the plan is no longer used. */
  release(): void;
}

/** Plans an archive slice by slice. @param maxEntries returns how many entries it may hold now: fewer while other archives are planned */
type CreatePlan = (maxEntries: () => number) => AsyncGenerator<void, ZipPlan | null>;

/** Caches the checksums of archives, so that a later request for a range reads little more than the bytes of the range. */
class ChecksumCache {
  readonly #archives = new Map<string, { readonly checksums: Checksums; readonly cost: number }>();
  readonly #files = new Map<string, number>();
  #entries = 0;

  /**
   * Returns the checksums of an archive. Limits the cache by entries and not by archives: many small archives must not evict a
   * large one, which is expensive to read again.
   */
  get({ etag, items }: ZipPlan, locationId: number): Checksums {
    const key = `${locationId} ${etag}`;
    const checksums = this.#archives.get(key)?.checksums ?? createChecksums(items.length, locationId, this.#files);
    this.#evict(key);
    const cost = items.length + archiveCost;
    this.#archives.set(key, { checksums, cost });
    this.#entries += cost;
    for (const oldestKey of this.#archives.keys()) {
      if (this.#entries <= maxCachedEntries) break;
      this.#evict(oldestKey);
    }
    return checksums;
  }

  #evict(key: string): void {
    this.#entries -= this.#archives.get(key)?.cost ?? 0;
    this.#archives.delete(key);
  }
}

/** Plans the archives that are sent. Equal archives share one plan. */
export class ArchivePlans {
  readonly #inUse = new Map<string, { readonly plan: ZipPlan; users: number }>();
  readonly #checksums = new ChecksumCache();
  readonly #planningTurns = archiveTurns(maxWaitingPlans);
  readonly #checksumTurns = archiveTurns(maxWaitingChecksums);
  #entriesInUse = 0;
  #planners = 0;
  readonly createPieceMemory: () => PieceMemory = pieceMemories();
  readonly createNameMemory: (address: string) => NameMemory = nameMemories();

  /**
   * Plans an archive slice by slice, in turns with others, and keeps the plan until it is released.
   * @param createPlan yields after every slice, and returns null if the archive cannot be planned
   * @returns null if `createPlan` returns null, or if the plans in use would hold too many entries with this one
   * @throws Refusal (503) if too many requests wait; the reason of `clientGone`; what `createPlan` throws
   */
  async plan(visitor: ArchiveVisitor, clientGone: AbortSignal, createPlan: CreatePlan): Promise<PlanInUse | null> {
    const plan = await this.inspect(visitor, clientGone, this.#countWhilePlanning(createPlan));
    return plan && this.#acquire(plan, visitor, (readSlice) => this.#checksumTurns.run(visitor, clientGone, readSlice));
  }

  /** Plans an archive, and counts it from its first slice on. Before that, it holds no entries, so others may hold more. */
  async *#countWhilePlanning(createPlan: CreatePlan): AsyncGenerator<void, ZipPlan | null> {
    this.#planners += 1;
    try {
      return yield* createPlan(() => maxEntriesInPlanning / this.#planners);
    } finally {
      this.#planners -= 1;
    }
  }

  /** Runs the slices of a check or a plan in turns with other archives. @returns their result @throws as `plan`; what `slices` throws */
  async inspect<T>(visitor: ArchiveVisitor, clientGone: AbortSignal, slices: AsyncGenerator<void, T>): Promise<T> {
    try {
      for (;;) {
        const step = await this.#planningTurns.run(visitor, clientGone, () => slices.next());
        if (step.done) return step.value;
      }
    } finally {
      await slices[Symbol.asyncDispose](); // after an error: closes what the generator holds open
    }
  }

  #acquire(plan: ZipPlan, { locationId }: ArchiveVisitor, runInTurn: PlanInUse['runInTurn']): PlanInUse | null {
    const { etag, cost } = plan;
    const planUse = this.#inUse.get(etag) ?? { plan, users: 0 };
    if (planUse.users === 0 && this.#entriesInUse > 0 && this.#entriesInUse + cost > maxEntriesInUse) return null;
    if (planUse.users === 0) this.#entriesInUse += cost;
    planUse.users += 1;
    this.#inUse.set(etag, planUse);
    let isReleased = false;
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      planUse.users -= 1;
      if (planUse.users > 0) return;
      this.#inUse.delete(etag);
      this.#entriesInUse -= cost;
    };
    return { plan: planUse.plan, checksums: this.#checksums.get(plan, locationId), runInTurn, release };
  }
}

/** Returns what keeps the checksums of an archive. @param fileChecksums checksums of large files, by location and ETag */
function createChecksums(fileCount: number, locationId: number, fileChecksums: Map<string, number>): Checksums {
  const values = new Uint32Array(fileCount);
  const isComputed = new Uint8Array(fileCount);
  const keyOf = ({ etag }: PlacedItem) => `${locationId} ${etag}`;
  return {
    get: (index, item) => (isComputed[index] === 1 ? values[index] : fileChecksums.get(keyOf(item))),
    set(index, item, crc) {
      values[index] = crc;
      isComputed[index] = 1;
      if (hasDescriptor(item)) setAndEvict(fileChecksums, keyOf(item), crc, maxCachedFiles);
    },
    running: new Map(),
  };
}
