import { checkQuota, hasQuota } from '#features/quotas/check-quota.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { AuthorizedVisit } from '#features/visits/authorization/authorize-visit.ts';
import type { Ports } from '#ports/ports.ts';

const claimStep = 64 << 20; // bytes

/**
 * Returns the function that claims space in the quotas for an upload of unknown length while its bytes arrive. It claims some bytes ahead,
 * so that few chunks wait for the database.
 * @param token of the pending change
 * @param replacedBytes bytes of the file that the upload replaces
 * @returns a function of the number of bytes received so far, which throws Refusal (507) if a quota is exceeded
 */
export function claimBytes(
  { store, clock }: Pick<Ports, 'store' | 'clock'>,
  { link, visitorRequest }: Pick<AuthorizedVisit, 'link' | 'visitorRequest'>,
  token: string,
  replacedBytes: number,
): (receivedBytes: number) => Promise<void> {
  let claimedBytes = 0;
  if (!hasQuota(link)) return async () => {};
  return async (receivedBytes) => {
    const neededBytes = receivedBytes - replacedBytes;
    if (neededBytes <= claimedBytes) return;
    claimedBytes = await store.write(async (tx) => {
      const free = await checkQuota(tx, link, { bytes: neededBytes - claimedBytes, files: 0 }, clock.now());
      const bytes = neededBytes + Math.min(free, claimStep);
      await tx.updateTable('unsettled').set({ bytes }).where('tid', '=', link.tid).where('token', '=', token).execute();
      return bytes;
    }, visitorTurn(visitorRequest.address));
  };
}
