import { waitAtMost } from '#core/time-limit.ts';
import { type CountedFolder, type CountPorts, countFolder } from './count-folder.ts';

const minute = 60_000; // ms
/** Counts that run at a time, each of another tenant. A count that takes longer than a minute is slow. */
const maxQuick = 4;
const maxSlow = 16;
const maxCountTime = 120 * minute; // a hostile service could list files without end
const searchInterval = minute / 6; // ms between two searches for due folders while some are being counted

interface RunningCount {
  readonly tid: number;
  readonly abort: () => void;
  readonly completion: Promise<void>;
  isSlow: boolean;
}

/** Selects the folder that has been due the longest, of all tenants but these. */
const dueFolders = ({ store, clock }: CountPorts, busyTenants: readonly number[] = []) =>
  store.read
    .selectFrom('counted_folder')
    .innerJoin('location', (join) =>
      join.onRef('location.tid', '=', 'counted_folder.tid').onRef('location.id', '=', 'counted_folder.location_id'),
    )
    .selectAll('location')
    .select(['path', 'counted_at'])
    // A folder is also due if its last count is in the future: the clock was ahead then.
    .where(({ or, eb }) => or([eb('due_at', '<=', clock.now()), eb('counted_at', '>', clock.now())]))
    .$if(busyTenants.length > 0, (query) => query.where('counted_folder.tid', 'not in', [...busyTenants]))
    .orderBy('due_at')
    .limit(1);

export const hasDueFolders = async (ports: CountPorts): Promise<boolean> => (await dueFolders(ports).executeTakeFirst()) !== undefined;

/** Counts the due folders. A location whose files take long to count delays no other tenant. */
class FolderCounts {
  readonly #ports: CountPorts;
  readonly #jobSignal: AbortSignal;
  readonly #running = new Set<RunningCount>();
  readonly #memory = { usedBytes: 0 };

  constructor(ports: CountPorts, jobSignal: AbortSignal) {
    this.#ports = ports;
    this.#jobSignal = jobSignal;
  }

  /** @throws StoreUnavailable, StoreFull; the reason of the signal */
  async run(): Promise<void> {
    try {
      for (;;) {
        this.#jobSignal.throwIfAborted();
        const folder = this.#quickCount < maxQuick ? await this.#findDue() : undefined;
        if (folder) this.#start(folder);
        else if (this.#running.size === 0) return;
        else await waitAtMost(Promise.race([...this.#running].map(({ completion }) => completion)), searchInterval);
      }
    } finally {
      for (const { abort } of this.#running) abort();
      await Promise.allSettled([...this.#running].map(({ completion }) => completion));
    }
  }

  get #quickCount(): number {
    return [...this.#running].filter(({ isSlow }) => !isSlow).length;
  }

  #findDue(): Promise<CountedFolder | undefined> {
    return dueFolders(
      this.#ports,
      [...this.#running].map(({ tid }) => tid),
    ).executeTakeFirst();
  }

  #start(folder: CountedFolder): void {
    const abort = new AbortController();
    const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(maxCountTime)]);
    const completion = countFolder(this.#ports, folder, { jobSignal: this.#jobSignal, memory: this.#memory, signal });
    const count: RunningCount = { tid: folder.tid, abort: () => abort.abort(), completion, isSlow: false };
    this.#running.add(count);
    const slowTimer = setTimeout(() => this.#markSlow(count), minute);
    const end = () => {
      clearTimeout(slowTimer);
      this.#running.delete(count);
    };
    completion.then(end, end);
  }

  /** Marks a count as slow, so that another quick one can start. Aborts it if many slow counts are running: it is repeated later. */
  #markSlow(count: RunningCount): void {
    if ([...this.#running].filter(({ isSlow }) => isSlow).length >= maxSlow) count.abort();
    count.isSlow = true;
  }
}

/**
 * Counts the files of the folders that are due: of a few tenants at a time, and of each tenant one folder after the other. A location
 * that is unavailable is tried again later.
 * @throws StoreUnavailable, StoreFull; the reason of the signal
 */
export const countDueFolders = (ports: CountPorts, signal: AbortSignal): Promise<void> => new FolderCounts(ports, signal).run();
