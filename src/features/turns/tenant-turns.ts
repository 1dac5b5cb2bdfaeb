import type { Refusal } from '#core/messages.ts';
import type { ClientTurns } from './search-turns.ts';
import { turns } from './turns.ts';

interface TenantLimits {
  /** How many may run at once: in total, and of one tenant. */
  readonly concurrency: { readonly all: number; readonly tenant: number };
  /** How many may wait: of one caller, and in total. */
  readonly maxWaiting: { readonly inner: number; readonly all: number };
  readonly refusal: () => Refusal;
}

/** Returns turns of which a tenant gets only a part. */
export function tenantTurns({ concurrency, maxWaiting, refusal }: TenantLimits): ClientTurns {
  const limits = { concurrency: concurrency.all, concurrencyOfGroup: { level: 0, max: concurrency.tenant }, maxWaiting, refusal };
  const all = turns(limits);
  return { run: ({ tid, groups }, clientGone, work) => all.run([`tenant ${tid}`, ...groups], clientGone, work) };
}
