import { ensureReported } from '#features/processes/running-processes.ts';
import type { Ports } from '#ports/ports.ts';
import type { Confirm } from '#ports/storage.ts';
import { StoreUnavailable } from '#ports/store.ts';
import type { UploadRow } from './upload-rows.ts';

/** How long bytes may be written after the claim was confirmed; ms. */
const maxConfirmationAge = 5_000;

type ConfirmationPorts = Pick<Ports, 'store' | 'clock' | 'process'>;

/** @throws StoreUnavailable if this process no longer holds the upload */
async function checkClaim(ports: ConfirmationPorts, { tid, id }: Pick<UploadRow, 'tid' | 'id'>): Promise<void> {
  await ensureReported(ports);
  const row = await ports.store.read
    .selectFrom('resumable_upload')
    .select('id')
    .where('tid', '=', tid)
    .where('id', '=', id)
    .where('holder', '=', ports.process)
    .executeTakeFirst();
  if (!row) throw new StoreUnavailable('this process no longer holds the upload');
}

/**
 * Returns a function that confirms the claim of this process on an upload. A process suspended for a minute may have lost its claims:
 * its late bytes must not get into a file that another process has continued or completed.
 */
export function claimConfirmation(ports: ConfirmationPorts, row: Pick<UploadRow, 'tid' | 'id'>): Confirm {
  if (!ports.store.isShared) return async () => {};
  let confirmedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const now = ports.clock.now();
    if (Math.abs(now - confirmedAt) < maxConfirmationAge) return;
    await checkClaim(ports, row);
    confirmedAt = now;
  };
}
