import { packList } from '#core/policy/address-range.ts';
import type { Store } from '#ports/store.ts';

const atOnce = 20; // profiles: a long list takes a tenth of a second

/** The ranges as they are searched; null: they cannot be read, which the profile's own requests tell. */
function packed(ranges: string): string | null {
  try {
    return packList(ranges);
  } catch {
    return null;
  }
}

/** Packs the address ranges that an earlier version stored: they would be read at each request. */
export async function packStoredRanges({ read, write }: Pick<Store, 'read' | 'write'>): Promise<void> {
  const unpacked = read.selectFrom('login_profile').select(['tid', 'id', 'ip_range']).where('ip_bounds', 'is', null);
  const next = (last: number) => unpacked.where('id', '>', last).orderBy('id').limit(atOnce).execute();
  for (let rows = await next(0); rows.length > 0; rows = await next(rows.at(-1)?.id ?? 0)) {
    const changes = rows.map((row) => ({ ...row, ip_bounds: packed(row.ip_range) }));
    await write(async (tx) => {
      for (const { tid, id, ip_range, ip_bounds } of changes)
        await tx
          .updateTable('login_profile')
          .set({ ip_bounds })
          .where('tid', '=', tid)
          .where('id', '=', id)
          .where('ip_range', '=', ip_range) // it may have been changed meanwhile
          .execute();
    }, 'job');
  }
}
