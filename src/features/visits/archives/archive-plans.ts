import { setAndEvict } from '#core/newest.ts';
import { type ArchiveVisitor, archiveTurns } from './archive-turns.ts';
import { type NameMemory, nameMemories } from './name-memory.ts';
import { type PieceMemory, pieceMemories } from './piece-memory.ts';
import { hasDescriptor, type PlacedItem, type ZipPlan } from './zip-plan.ts';

const maxEntriesInUse = 200_000; // entries of all plans in use, some 300 bytes each
const maxEntriesInPlanning = 400_000; // entries held in memory by all archives that are being planned
const maxPlanningWaiting = { inner: 16, all: 512 };
const maxChecksumWaiting = { inner: 64, all: 1000 };
const maxCachedFiles = 50_000; // large files whose checksums are cached, some 150 bytes each
const maxCachedEntries = 3_200_000; // entries of archives whose checksums are cached, 5 bytes each
const archiveCost = 100; // fixed memory cost of a cached archive, as a number of entries

/** The CRC-32 of a file that is being read. */
export interface RunningChecksum {
  readonly checksum: Promise<number>;
  /** Callbacks of the other requests that wait for this checksum. Each is called after every piece. */
  readonly pieceListeners: Set<() => void>;
}

/** The CRC-32 of each file of an archive, by the file's index in the plan. Checksums of large files are shared by all archives. */
export interface Checksums {
  /** Returns the checksum, or undefined if the file has not been read yet. */
  get(index: number, item: PlacedItem): number | undefined;
  set(index: number, item: PlacedItem, crc: number): void;
  /** Checksums that are being computed, by index, so that two requests do not read the same file only for its checksum. */
  readonly running: Map<number, RunningChecksum>;
}

/** A plan that is in use. */
export interface PlanInUse {
  readonly plan: ZipPlan;
  readonly checksums: Checksums;
  /** Reads a slice of a file only for its checksum, in turns: to send a few bytes of an archive, gigabytes may have to be read. */
  readonly runInTurn: (readSlice: () => Promise<void>) => Promise<void>;
  /** Must be called when the plan is no longer used. */
  release(): void;
}

/** Plans an archive slice by slice. @param maxEntries returns how many entries it may hold in memory now */
type CreatePlan = (maxEntries: () => number) => AsyncGenerator<void, ZipPlan | null>;

/**
 * Plans the archives that are sent. Equal archives share one plan. Checksums are cached between requests, so that a range
 * of an archive costs little more than its bytes.
 */
export interface ArchivePlans {
  /**
   * Plans an archive slice by slice, in turns with others, and keeps the plan until it is released.
   * @param createPlan yields after every slice, and returns null if the archive cannot be planned. Its parameter returns how
   *   many entries it may hold; the more archives are planned at the same time, the fewer each may hold
   * @returns null if `createPlan` returns null, or if the plans in use already hold too many entries
   * @throws Refusal (503) if too many requests wait
   */
  plan(visitor: ArchiveVisitor, clientGone: AbortSignal, createPlan: CreatePlan): Promise<PlanInUse | null>;
  /** Inspects files slice by slice, in turns with the planning of other archives. @throws as `plan` */
  inspect<T>(visitor: ArchiveVisitor, clientGone: AbortSignal, slices: AsyncGenerator<void, T>): Promise<T>;
  /** Creates the piece memory of an archive that is sent. */
  readonly createPieceMemory: () => PieceMemory;
  /** Creates the name memory of an archive for a client address. */
  readonly createNameMemory: (address: string) => NameMemory;
}

export function archivePlans(): ArchivePlans {
  const plansInUse = new Map<string, { readonly plan: ZipPlan; users: number }>();
  let entriesInUse = 0;
  const cachedArchives = new Map<string, { readonly checksums: Checksums; readonly cost: number }>();
  let cachedEntries = 0;
  const fileChecksums = new Map<string, number>();
  function evict(key: string): void {
    cachedEntries -= cachedArchives.get(key)?.cost ?? 0;
    cachedArchives.delete(key);
  }
  /** Limits the cache by entries and not by archives: many small archives must not evict a large one, which is expensive to read again. */
  function cacheChecksums(key: string, checksums: Checksums, count: number): void {
    evict(key);
    const cost = count + archiveCost;
    cachedArchives.set(key, { checksums, cost });
    cachedEntries += cost;
    for (const oldestKey of cachedArchives.keys()) {
      if (cachedEntries <= maxCachedEntries) return;
      evict(oldestKey);
    }
  }
  function checksumsOf({ etag, items }: ZipPlan, locationId: number): Checksums {
    const key = `${locationId} ${etag}`;
    const checksums = cachedArchives.get(key)?.checksums ?? createChecksums(items.length, locationId, fileChecksums);
    cacheChecksums(key, checksums, items.length);
    return checksums;
  }
  const [planningTurns, checksumTurns] = [archiveTurns(maxPlanningWaiting), archiveTurns(maxChecksumWaiting)];
  function acquirePlan(plan: ZipPlan, { locationId }: ArchiveVisitor, summing: PlanInUse['runInTurn']): PlanInUse | null {
    const { etag } = plan;
    const shared = plansInUse.get(etag) ?? { plan, users: 0 };
    if (shared.users === 0 && entriesInUse > 0 && entriesInUse + plan.cost > maxEntriesInUse) return null;
    if (shared.users === 0) entriesInUse += plan.cost;
    shared.users += 1;
    plansInUse.set(etag, shared);
    let isReleased = false;
    return {
      plan: shared.plan,
      checksums: checksumsOf(plan, locationId),
      runInTurn: summing,
      release() {
        if (isReleased) return;
        isReleased = true;
        shared.users -= 1;
        if (shared.users > 0) return;
        plansInUse.delete(etag);
        entriesInUse -= plan.cost;
      },
    };
  }
  const look: ArchivePlans['inspect'] = async (visitor, clientGone, slices) => {
    try {
      for (;;) {
        const step = await planningTurns.run(visitor, clientGone, () => slices.next());
        if (step.done) return step.value;
      }
    } finally {
      await slices[Symbol.asyncDispose](); // after an error: closes what the generator holds open
    }
  };
  let planners = 0;
  return {
    async plan(visitor, clientGone, createPlan) {
      planners += 1;
      try {
        const plan = await look(
          visitor,
          clientGone,
          createPlan(() => maxEntriesInPlanning / planners),
        );
        return plan && acquirePlan(plan, visitor, (readSlice) => checksumTurns.run(visitor, clientGone, readSlice));
      } finally {
        planners -= 1;
      }
    },
    inspect: look,
    createPieceMemory: pieceMemories(),
    createNameMemory: nameMemories(),
  };
}

/** @param fileChecksums checksums of large files, by location and ETag */
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
