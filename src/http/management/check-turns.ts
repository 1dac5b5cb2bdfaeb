import { Refusal } from '#core/messages.ts';
import type { AnyChange, Caller } from '#features/operation.ts';
import { turnsByKey } from '#features/turns/turns.ts';

const mostWaiting = { inner: 256, all: 256 };
const retryAfter = 5; // seconds

/** Runs the check of a change. */
export type CheckInTurn = <T>(operation: AnyChange, caller: Caller, check: () => Promise<T>) => Promise<T>;

/** Checks that read records of all tenants run one at a time for each tenant: they hold the event loop. */
export function checksInTurn(): CheckInTurn {
  const ofTenant = turnsByKey({ atOnce: 1, mostWaiting, refusal: () => new Refusal('changesBusy', undefined, { retryAfter }) });
  const stays = new AbortController().signal; // a change is made though its client leaves
  return (operation, { tid }, check) => {
    if (!operation.readsAllTenants) return check();
    const tenant = `${tid}`;
    return ofTenant(tenant, (turns) => turns.run([tenant, tenant], stays, check));
  };
}
