import { setNewest } from '#core/newest.ts';
import { type ArchiveVisitor, archiveTurns } from './archive-turns.ts';
import { type NameMemory, nameMemory } from './name-memory.ts';
import { type PieceMemory, pieceMemories } from './piece-memory.ts';
import { hasDescriptor, type PlacedItem, type ZipPlan } from './zip-plan.ts';

const mostEntries = 200_000; // planned at one time, some 300 bytes each
const mostFound = 400_000; // entries that are held while others are still looked for
const mostPlanning = { inner: 16, all: 512 };
const mostSumming = { inner: 64, all: 1000 };
const mostLarge = 50_000; // files whose sums are kept, some 150 bytes each
const mostRemembered = 3_200_000; // entries of archives whose sums are kept, 5 bytes each
const archiveCost = 100; // entries that an archive takes as much memory as, beside its own

/** The CRC-32 of a file that is being read. */
export interface RunningChecksum {
  readonly sum: Promise<number>;
  /** Told of every piece, by those who wait for it too. */
  readonly readers: Set<() => void>;
}

/** The CRC-32 of an archive's files, by their place; those of large files are shared by all archives. */
export interface Checksums {
  /** undefined: not read yet. */
  get(place: number, item: PlacedItem): number | undefined;
  set(place: number, item: PlacedItem, crc: number): void;
  /** Sums that are being read, so that no file is read twice at one time for its sum alone. */
  readonly underWay: Map<number, RunningChecksum>;
}

/** A plan that is in use. */
export interface PlanInUse {
  readonly plan: ZipPlan;
  readonly sums: Checksums;
  /** Reads a slice of a file for its sum alone when its turn comes: a few bytes of an archive may ask for gigabytes. */
  readonly summing: (readSlice: () => Promise<void>) => Promise<void>;
  /** To be called once it is no longer used. */
  release(): void;
}

/** Plans an archive. */
type PlanMaker = (mostFound: () => number) => AsyncGenerator<void, ZipPlan | null>;

/** Archives that are sent, equal ones by one plan; their sums are kept between requests, so that a part costs little more than its bytes. */
export interface ArchivePlans {
  /**
   * Plans an archive a slice at a time, each when its turn comes, and holds the plan until it is released.
   * @param make yields after every slice, and returns null where it cannot be planned; its parameter tells how many
   *   entries it may hold: fewer, the more are planned beside each other
   * @returns null there, and while too much is planned already
   * @throws 503 where too many wait
   */
  plan(asker: ArchiveVisitor, left: AbortSignal, make: PlanMaker): Promise<PlanInUse | null>;
  /** Looks through files a slice at a time, each when its turn comes: others plan between them. @throws as `plan` */
  look<T>(asker: ArchiveVisitor, left: AbortSignal, slices: AsyncGenerator<void, T>): Promise<T>;
  /** Begins an archive that is sent. */
  readonly beginPieces: () => PieceMemory;
  /** Begins the memory for names that an archive for this address holds. */
  readonly beginNames: (address: string) => NameMemory;
}

export function archivePlans(): ArchivePlans {
  const used = new Map<string, { readonly plan: ZipPlan; users: number }>();
  const remembered = new Map<string, { readonly sums: Checksums; readonly cost: number }>();
  let rememberedCost = 0;
  let entries = 0;
  const large = new Map<string, number>();
  function forget(key: string): void {
    rememberedCost -= remembered.get(key)?.cost ?? 0;
    remembered.delete(key);
  }
  /** By entries, not by archives: who asks for many small ones makes nobody read a large one anew. */
  function remember(key: string, sums: Checksums, count: number): void {
    forget(key);
    const cost = count + archiveCost;
    remembered.set(key, { sums, cost });
    rememberedCost += cost;
    for (const oldest of remembered.keys()) {
      if (rememberedCost <= mostRemembered) return;
      forget(oldest);
    }
  }
  function sumsOf({ etag, items }: ZipPlan, locationId: number): Checksums {
    const key = `${locationId} ${etag}`;
    const sums = remembered.get(key)?.sums ?? checksums(items.length, locationId, large);
    remember(key, sums, items.length);
    return sums;
  }
  const [planning, summing] = [archiveTurns(mostPlanning), archiveTurns(mostSumming)];
  function use(plan: ZipPlan, { locationId }: ArchiveVisitor, sum: PlanInUse['summing']): PlanInUse | null {
    const { etag } = plan;
    const known = used.get(etag) ?? { plan, users: 0 };
    if (known.users === 0 && entries > 0 && entries + plan.cost > mostEntries) return null;
    if (known.users === 0) entries += plan.cost;
    known.users += 1;
    used.set(etag, known);
    let released = false;
    return {
      plan: known.plan,
      sums: sumsOf(plan, locationId),
      summing: sum,
      release() {
        if (released) return;
        released = true;
        known.users -= 1;
        if (known.users > 0) return;
        used.delete(etag);
        entries -= plan.cost;
      },
    };
  }
  const look: ArchivePlans['look'] = async (asker, left, slices) => {
    try {
      for (;;) {
        const step = await planning.run(asker, left, () => slices.next());
        if (step.done) return step.value;
      }
    } finally {
      await slices[Symbol.asyncDispose](); // where it was given up: what it holds open is closed
    }
  };
  let planners = 0;
  return {
    async plan(asker, left, make) {
      planners += 1;
      try {
        const plan = await look(
          asker,
          left,
          make(() => mostFound / planners),
        );
        return plan && use(plan, asker, (readSlice) => summing.run(asker, left, readSlice));
      } finally {
        planners -= 1;
      }
    },
    look,
    beginPieces: pieceMemories(),
    beginNames: nameMemory(),
  };
}

/** @param large sums of large files, by location and validator */
function checksums(files: number, locationId: number, large: Map<string, number>): Checksums {
  const sums = new Uint32Array(files);
  const known = new Uint8Array(files);
  const keyOf = ({ etag }: PlacedItem) => `${locationId} ${etag}`;
  return {
    get: (place, item) => (known[place] === 1 ? sums[place] : large.get(keyOf(item))),
    set(place, item, crc) {
      sums[place] = crc;
      known[place] = 1;
      if (hasDescriptor(item)) setNewest(large, keyOf(item), crc, mostLarge);
    },
    underWay: new Map(),
  };
}
