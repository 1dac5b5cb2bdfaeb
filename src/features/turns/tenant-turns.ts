import type { Refusal } from '#core/messages.ts';
import type { ClientTurns } from './search-turns.ts';
import { turns } from './turns.ts';

interface TenantLimits {
  /** Maximum number of requests that run at the same time: in total, and of one tenant. */
  readonly concurrency: { readonly all: number; readonly tenant: number };
  /** Maximum number of requests that wait: of one caller, and in total. */
  readonly maxWaiting: { readonly inner: number; readonly all: number };
  readonly refusal: () => Refusal;
}

/** Returns turns in which one tenant can use only a part of the concurrency. */
export function tenantTurns({ concurrency, maxWaiting, refusal }: TenantLimits): ClientTurns {
  const limits = { concurrency: concurrency.all, concurrencyOfGroup: { level: 0, max: concurrency.tenant }, maxWaiting, refusal };
  const all = turns(limits);
  return { run: ({ tid, groups }, clientGone, work) => all.run([`tenant ${tid}`, ...groups], clientGone, work) };
}
