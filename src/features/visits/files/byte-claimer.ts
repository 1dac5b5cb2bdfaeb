import { checkQuota, hasQuota } from '#features/quotas/check-quota.ts';
import { claimStep } from '#features/quotas/used-space.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { AuthorizedVisit } from '#features/visits/authorization/authorize-visit.ts';
import type { Ports } from '#ports/ports.ts';

/** Returns the bytes that an upload claims at its beginning. @param addedBytes bytes that it adds to its folder; 0 if unknown */
export const firstClaim = (addedBytes: number): number => Math.min(claimStep, Math.max(0, addedBytes));

/**
 * Returns the function that claims space in the quotas for an upload while its bytes arrive. It claims some bytes ahead,
 * so that few chunks wait for the database.
 * @param token of the pending change
 * @param file `length`: bytes of the file, or null if not known; `replacedBytes`: bytes of the file that it replaces
 * @returns a function of the number of bytes received so far, which throws Refusal (507) if a quota is exceeded
 */
export function byteClaimer(
  { store, clock }: Pick<Ports, 'store' | 'clock'>,
  { link, visitorRequest }: Pick<AuthorizedVisit, 'link' | 'visitorRequest'>,
  token: string,
  { length, replacedBytes }: { readonly length: number | null; readonly replacedBytes: number },
): (receivedBytes: number) => Promise<void> {
  const maxBytes = length === null ? Number.POSITIVE_INFINITY : length - replacedBytes;
  let claimedBytes = length === null ? 0 : firstClaim(maxBytes);
  if (!hasQuota(link)) return async () => {};
  return async (receivedBytes) => {
    const neededBytes = receivedBytes - replacedBytes;
    if (neededBytes <= claimedBytes) return;
    claimedBytes = await store.write(async (tx) => {
      const free = await checkQuota(tx, link, { bytes: neededBytes - claimedBytes, files: 0 }, clock.now());
      const bytes = Math.min(maxBytes, neededBytes + Math.min(free, claimStep));
      await tx.updateTable('unsettled').set({ bytes }).where('tid', '=', link.tid).where('token', '=', token).execute();
      return bytes;
    }, visitorTurn(visitorRequest.address));
  };
}
