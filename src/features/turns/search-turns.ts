import { Refusal } from '#core/messages.ts';
import { turns, turnsByKey } from './turns.ts';

const searchesAtOnce = 4;
const mostWaiting = { inner: 64, all: 2000 };
const retryAfter = 2; // seconds

/** Who searches: tenants take turns, and within a tenant callers do. */
export interface SearchCaller {
  readonly tid: number;
  readonly caller: string;
}

/** Runs searches in turns, so that the searches of one caller hold up no other. */
export interface SearchTurns {
  /** @throws 503 where too many wait; the reason of `left` where the client left before its turn */
  run<T>(searching: SearchCaller, left: AbortSignal, search: () => Promise<T>): Promise<T>;
}

function turnsOf(atOnce: number, ofOneTenant: number): SearchTurns {
  const refusal = () => new Refusal('searchBusy', undefined, { retryAfter });
  const tenants = turns({ atOnce, mostWaiting, refusal });
  const callers = turnsByKey({ atOnce: ofOneTenant, mostWaiting, refusal });
  return {
    run: ({ tid, caller }, left, search) => {
      const tenant = `${tid}`;
      return callers(tenant, (own) => own.run([caller, caller], left, () => tenants.run([tenant, tenant], left, search)));
    },
  };
}

/** @param ofOneTenant how many of one tenant run at once: each may take seconds, and the others' find a thread or a connection */
export const searchTurns = (ofOneTenant: number): SearchTurns => turnsOf(searchesAtOnce, ofOneTenant);

/** Turns of reports, which read a whole history for seconds: they leave the turns of searches, and of portals, to those. */
export const reportTurns = (): SearchTurns => turnsOf(1, 1);
