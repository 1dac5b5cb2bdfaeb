import { waitAtMost } from '#core/time-limit.ts';
import { continueCountChange, hasCountChange } from './count-changes.ts';
import { type CountedFolder, type CountPorts, countFolder } from './count-folder.ts';
import { findDueFolder, findDueTenants, resetFutureCounts } from './due-folders.ts';

const minute = 60_000; // ms
/** Limits of the quick and the slow counts that run at a time, each for a different tenant. A count is slow after a minute. */
const maxQuick = 4;
const maxSlow = 16;
const maxCountTime = 120 * minute; // a hostile service could list files without end
const waitInterval = minute / 6; // ms after which the next search for a due folder begins, even if no count has ended
const minSearchInterval = waitInterval / 2; // ms between two searches for tenants: each search reads a row for each tenant

interface RunningCount {
  readonly tid: number;
  readonly abort: () => void;
  readonly completion: Promise<void>;
  isSlow: boolean;
}

/** Counts the due folders. A count that takes longer than a minute makes room for another one. */
class FolderCounts {
  readonly #ports: CountPorts;
  readonly #jobSignal: AbortSignal;
  readonly #running = new Set<RunningCount>();
  readonly #memory = { usedBytes: 0 };
  /** Tenants that may have due folders. They take turns. */
  readonly #waitingTenants = new Set<number>();
  #searchedAt = Number.NEGATIVE_INFINITY;

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
        else await waitAtMost(Promise.race([...this.#running].map(({ completion }) => completion)), waitInterval);
      }
    } finally {
      for (const { abort } of this.#running) abort();
      await Promise.allSettled([...this.#running].map(({ completion }) => completion));
    }
  }

  get #quickCount(): number {
    return [...this.#running].filter(({ isSlow }) => !isSlow).length;
  }

  /**
   * Finds a due folder of the next tenant that has one. Skips tenants with a running count. Before that, continues an incomplete change
   * of the tenant's counted folders, because the change may make folders due.
   */
  async #findDue(): Promise<CountedFolder | undefined> {
    await this.#searchTenants();
    for (const tid of this.#waitingTenants) {
      this.#waitingTenants.delete(tid);
      await this.#continueChange(tid);
      const folder = await findDueFolder(this.#ports, tid);
      if (folder) return folder;
    }
    return undefined;
  }

  async #continueChange(tid: number): Promise<void> {
    const { store } = this.#ports;
    if (!(await hasCountChange(store.read, tid))) return;
    await store.write((tx) => continueCountChange(tx, tid), 'job');
    this.#waitingTenants.add(tid); // the change may not be complete yet, or the tenant may have another one
  }

  async #searchTenants(): Promise<void> {
    if (performance.now() - this.#searchedAt < minSearchInterval) return;
    this.#searchedAt = performance.now();
    await resetFutureCounts(this.#ports);
    const tenants = await findDueTenants(this.#ports);
    const busyTenants = new Set([...this.#running].map(({ tid }) => tid));
    for (const tid of tenants) if (!busyTenants.has(tid)) this.#waitingTenants.add(tid);
  }

  #start(folder: CountedFolder): void {
    const abort = new AbortController();
    const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(maxCountTime)]);
    const completion = countFolder(this.#ports, folder, { jobSignal: this.#jobSignal, memory: this.#memory, signal });
    const count: RunningCount = { tid: folder.tid, abort: () => abort.abort(), completion, isSlow: false };
    this.#waitingTenants.delete(folder.tid);
    this.#running.add(count);
    const slowTimer = setTimeout(() => this.#markSlow(count), minute);
    const end = () => {
      clearTimeout(slowTimer);
      this.#running.delete(count);
      this.#waitingTenants.add(folder.tid); // the tenant may have more due folders
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
