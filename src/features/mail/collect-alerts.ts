import { sql } from 'kysely';
import type { Store, Tx } from '#ports/store.ts';

const minute = 60_000; // ms
/**
 * Times in ms for which a digest collects alerts before the first mail, the second mail, and so on. The last time repeats.
 */
export const digestPauses = [minute, 5 * minute, 15 * minute, 60 * minute] as const;
const alertsPerPage = 1000;
/** The pause after a search is at least this many times as long as its queries. */
const pauseFactor = 100;

interface VisitorOfShare {
  readonly tid: number;
  readonly share_id: number;
  readonly visitor: string;
}

/** Reads a page of the visitors with alerts, after the last visitor of the previous page. `due_at` is null if a visitor has no digest. */
const readPage = (read: Tx, { tid, share_id, visitor }: VisitorOfShare) =>
  read
    .selectFrom((query) =>
      query
        .selectFrom('alert')
        .select(['tid', 'share_id', 'visitor'])
        .where(sql<boolean>`(tid, share_id, visitor) > (${tid}, ${share_id}, ${visitor})`)
        .orderBy('tid')
        .orderBy('share_id')
        .orderBy('visitor')
        .limit(alertsPerPage)
        .as('page'),
    )
    .leftJoin('alert_digest as digest', (join) =>
      join.onRef('digest.tid', '=', 'page.tid').onRef('digest.share_id', '=', 'page.share_id').onRef('digest.visitor', '=', 'page.visitor'),
    )
    .select(['page.tid', 'page.share_id', 'page.visitor', 'digest.due_at'])
    .distinct()
    .orderBy('page.tid')
    .orderBy('page.share_id')
    .orderBy('page.visitor')
    .execute();

/**
 * Adds a digest for each visitor who has alerts but no digest. Searches all alerts each time. Therefore, it misses no alert, even if
 * transactions of several processes do not commit in the order of the ids. Marking each collected alert would cost more.
 */
export class AlertCollector {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #shortestPause: number;
  #nextSearch = 0;
  #hasMissingDigest = false;
  #readTime = 0; // ms that the queries of the last search have taken

  /** @param now returns a monotonic time in ms @param shortestPause between two searches, in ms */
  constructor(store: Store, now: () => number, shortestPause: number) {
    this.#store = store;
    this.#now = now;
    this.#shortestPause = shortestPause;
  }

  /** Returns whether a visitor without a digest was found. Searches again only after a pause. */
  async hasWork(): Promise<boolean> {
    if (this.#hasMissingDigest || this.#now() < this.#nextSearch) return this.#hasMissingDigest;
    await this.#search(async (pages) => {
      this.#hasMissingDigest = !(await pages.next()).done;
    });
    return this.#hasMissingDigest;
  }

  /** Adds the missing digests, if `hasWork` has found any. */
  async collect(signal: AbortSignal): Promise<void> {
    if (!this.#hasMissingDigest) return;
    await this.#search(async (pages) => {
      for await (const visitors of pages) {
        if (signal.aborted) return;
        await this.#addDigests(visitors);
      }
      this.#hasMissingDigest = false;
    });
  }

  async #addDigests(visitors: readonly VisitorOfShare[]): Promise<void> {
    const { write, dialect } = this.#store;
    const due_at = sql<number>`${dialect.now} + ${sql.lit(digestPauses[0])}`;
    const digests = visitors.map((visitor) => ({ ...visitor, due_at, step: 0 }));
    await write(
      (tx) =>
        tx
          .insertInto('alert_digest')
          .values(digests)
          .onConflict((conflict) => conflict.columns(['tid', 'share_id', 'visitor']).doNothing())
          .execute(),
      'job',
    );
  }

  /** Yields the visitors whose alerts have no digest, by pages. */
  async *#visitorsWithoutDigest(): AsyncGenerator<VisitorOfShare[]> {
    let after: VisitorOfShare | undefined = { tid: 0, share_id: 0, visitor: '' };
    while (after) {
      const start = this.#now();
      const visitors: (VisitorOfShare & { due_at: number | null })[] = await readPage(this.#store.read, after);
      this.#readTime += this.#now() - start;
      const missing = visitors.filter(({ due_at }) => due_at === null);
      if (missing.length > 0) yield missing.map(({ tid, share_id, visitor }) => ({ tid, share_id, visitor }));
      after = visitors.at(-1);
      await new Promise(setImmediate); // SQLite reads on the event loop, and there may be thousands of pages
    }
  }

  async #search(use: (pages: AsyncGenerator<VisitorOfShare[]>) => Promise<void>): Promise<void> {
    this.#readTime = 0;
    await use(this.#visitorsWithoutDigest());
    this.#nextSearch = this.#now() + Math.max(this.#shortestPause, this.#readTime * pauseFactor);
  }
}
