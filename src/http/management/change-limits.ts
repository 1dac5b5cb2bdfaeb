import { addCount } from '#core/count-by-key.ts';
import { Refusal } from '#core/messages.ts';
import { type Caller, callerKey } from '#features/operation.ts';
import { callerGroups } from '#features/turns/search-turns.ts';
import { turnsByKey } from '#features/turns/turns.ts';

/** Maximum number of running changes of a tenant, and of one caller, so that the other callers of the tenant do not have to wait. */
const [maxRunning, maxRunningOfCaller] = [40, 32];
/** The same for changes with long bodies: each may take a tenth of a second. */
const [maxLong, maxLongOfCaller] = [3, 2];
const longBody = 1 << 16; // bytes
const maxWaiting = { inner: 256, all: 256 }; // for each tenant
const maxBytes = { tenant: 64 << 20, caller: 32 << 20 }; // bytes of bodies
const minBytes = 1 << 13; // memory of a request with a very short body
const retryAfter = 2; // seconds

const refusal = () =>
  new Refusal('changesBusy', 'Too many changes of your tenant are in progress. Try again in a few seconds.', { retryAfter });

const turnsOfTenants = (concurrency: number, max: number) =>
  turnsByKey({ concurrency, concurrencyOfGroup: { level: 0, max }, maxWaiting, refusal });

/**
 * Runs a change in its turn: the callers of a tenant take turns. A change runs and counts until it ends, even if its client has
 * disconnected.
 * @throws Refusal (503) if too many changes wait, or the unfinished changes of the tenant or of the caller have too many bytes
 */
export type RunLimitedChange = <T>(caller: Pick<Caller, 'tid' | 'kind' | 'id'>, bytes: number, change: () => Promise<T>) => Promise<T>;

/** Limits the changes in progress of each tenant and of each caller, by number and bytes. */
export function limitChanges(): RunLimitedChange {
  const bytesByHolder = new Map<string, number>();
  const runInTurn = turnsOfTenants(maxRunning, maxRunningOfCaller);
  const runLongInTurn = turnsOfTenants(maxLong, maxLongOfCaller);
  return async (caller, bytes, change) => {
    const weight = Math.max(bytes, minBytes);
    const [tenant, groups] = [`${caller.tid}`, callerGroups(callerKey(caller))];
    const holders = [
      { name: `tenant ${tenant}`, max: maxBytes.tenant },
      { name: `caller ${tenant} ${groups[0]}`, max: maxBytes.caller },
    ];
    if (holders.some(({ name, max }) => (bytesByHolder.get(name) ?? 0) + weight > max)) throw refusal();
    const run = () => runInTurn(tenant, (turns) => turns.run(groups, null, change));
    for (const { name } of holders) addCount(bytesByHolder, name, weight);
    try {
      return await (bytes < longBody ? run() : runLongInTurn(tenant, (turns) => turns.run(groups, null, run)));
    } finally {
      for (const { name } of holders) addCount(bytesByHolder, name, -weight);
    }
  };
}
