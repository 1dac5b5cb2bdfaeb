import { Refusal } from '#core/messages.ts';
import { type AnyChange, type Caller, callerKey } from '#features/operation.ts';
import { callerGroups } from '#features/turns/search-turns.ts';
import { turnsByKey } from '#features/turns/turns.ts';

const maxWaiting = { inner: 256, all: 256 };
const retryAfter = 5; // seconds

/** Runs the check of a change. @throws Refusal (503) if too many checks wait; what `check` throws */
export type CheckInTurn = <T>(operation: AnyChange, caller: Caller, check: () => Promise<T>) => Promise<T>;

/**
 * Returns a function that runs checks. Checks that read the records of all tenants block the event loop: only one of each tenant runs at a
 * time, and the callers of a tenant take turns.
 */
export function tenantChecks(): CheckInTurn {
  const tenantTurns = turnsByKey({
    concurrency: 1,
    maxWaiting,
    refusal: () => new Refusal('changesBusy', undefined, { retryAfter }),
  });
  return (operation, caller, check) => {
    if (!operation.readsAllTenants) return check();
    return tenantTurns(`${caller.tid}`, (turns) => turns.run(callerGroups(callerKey(caller)), null, check));
  };
}
