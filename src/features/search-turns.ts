import { Refusal } from '#core/messages.ts';
import { type Turns, turns } from './turns.ts';

const [searchesAtOnce, reportsAtOnce] = [4, 1]; // of searches one is answered, the next ones are ready for the thread
const mostWaiting = { inner: 64, all: 2000 };
const retryAfter = 2; // seconds

/** Who searches: tenants take turns, and within a tenant callers do. */
export interface Searching {
  readonly tid: number;
  readonly caller: string;
}

/** Runs searches in turns, so that the searches of one caller hold up no other. */
export interface SearchTurns {
  /** @throws 503 where too many wait; the reason of `left` where the client left before its turn */
  run<T>(searching: Searching, left: AbortSignal, search: () => Promise<T>): Promise<T>;
}

function turnsOf(atOnce: number): SearchTurns {
  const { run }: Turns = turns({ atOnce, mostWaiting, refusal: () => new Refusal('searchBusy', undefined, { retryAfter }) });
  return { run: ({ tid, caller }, left, search) => run([`${tid}`, `${tid} ${caller}`], left, search) };
}

export const searchTurns = (): SearchTurns => turnsOf(searchesAtOnce);

/** Turns of reports, which read a whole history for seconds: they leave the turns of searches, and of portals, to those. */
export const reportTurns = (): SearchTurns => turnsOf(reportsAtOnce);
