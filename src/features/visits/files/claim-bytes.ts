import { checkQuota, hasQuota } from '#features/quotas/check-quota.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { AuthorizedVisit } from '#features/visits/authorization/authorize-visit.ts';
import type { Ports } from '#ports/ports.ts';

const claimStep = 64 << 20; // bytes

/**
 * Returns the function that claims the bytes of an upload while they arrive, because its length is not known. It claims some bytes ahead,
 * so that few chunks wait for the database.
 * @param token of the pending change
 * @param replaced bytes of the file that the upload replaces
 * @returns a function of the number of bytes received so far, which throws Refusal (507) if a quota is exceeded
 */
export function claimBytes(
  { store, clock }: Pick<Ports, 'store' | 'clock'>,
  { link, visitorRequest }: Pick<AuthorizedVisit, 'link' | 'visitorRequest'>,
  token: string,
  replaced: number,
): (received: number) => Promise<void> {
  let claimed = 0;
  if (!hasQuota(link)) return async () => {};
  return async (received) => {
    const added = received - replaced;
    if (added <= claimed) return;
    claimed = await store.write(async (tx) => {
      const free = await checkQuota(tx, link, { bytes: added - claimed, files: 0 }, clock.now());
      const bytes = added + Math.min(free, claimStep);
      await tx.updateTable('unsettled').set({ bytes }).where('tid', '=', link.tid).where('token', '=', token).execute();
      return bytes;
    }, visitorTurn(visitorRequest.address));
  };
}
