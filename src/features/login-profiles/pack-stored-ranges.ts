import { packRangeText } from '#core/authorization/address-range.ts';
import type { Store } from '#ports/store.ts';

const batchSize = 20; // profiles; packing a long list takes a tenth of a second

/** Returns the ranges in packed form, or null if they are invalid: a request that needs them reports the error. */
function packOrNull(ranges: string): string | null {
  try {
    return packRangeText(ranges);
  } catch {
    return null;
  }
}

/** Packs the address ranges that an earlier version stored, so that requests need not parse them each time. */
export async function packStoredRanges({ read, write }: Pick<Store, 'read' | 'write'>): Promise<void> {
  const query = read.selectFrom('login_profile').select(['tid', 'id', 'ip_range']).where('ip_bounds', 'is', null);
  const readBatch = (lastId: number) => query.where('id', '>', lastId).orderBy('id').limit(batchSize).execute();
  for (let rows = await readBatch(0); rows.length > 0; rows = await readBatch(rows.at(-1)?.id ?? 0)) {
    const changes = rows.map((row) => ({ ...row, ip_bounds: packOrNull(row.ip_range) }));
    await write(async (tx) => {
      for (const { tid, id, ip_range, ip_bounds } of changes)
        await tx
          .updateTable('login_profile')
          .set({ ip_bounds })
          .where('tid', '=', tid)
          .where('id', '=', id)
          .where('ip_range', '=', ip_range) // unless another request changed the ranges since they were read
          .execute();
    }, 'job');
  }
}
