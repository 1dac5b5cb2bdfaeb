import { Refusal } from '#core/messages.ts';
import type { AnyChange, Caller } from '#features/operation.ts';
import { turnsByKey } from '#features/turns/turns.ts';

const maxWaiting = { inner: 256, all: 256 };
const retryAfter = 5; // seconds

/** Runs the check of a change. */
export type CheckInTurn = <T>(operation: AnyChange, caller: Caller, check: () => Promise<T>) => Promise<T>;

/** Returns a runner of checks. Those that read records of all tenants run one at a time for each tenant: they block the event loop. */
export function tenantChecks(): CheckInTurn {
  const tenantTurns = turnsByKey({
    concurrency: 1,
    maxWaiting,
    refusal: () => new Refusal('changesBusy', undefined, { retryAfter }),
  });
  const neverAborted = new AbortController().signal; // a change is made even if its client leaves
  return (operation, { tid }, check) => {
    if (!operation.readsAllTenants) return check();
    const tenant = `${tid}`;
    return tenantTurns(tenant, (turns) => turns.run([tenant, tenant], neverAborted, check));
  };
}
