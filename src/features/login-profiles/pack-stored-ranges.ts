import { packList } from '#core/policy/address-range.ts';
import type { Store } from '#ports/store.ts';

const atOnce = 20; // profiles: a long list takes a tenth of a second

/** Packs the address ranges that an earlier version stored: they would be read at each request. */
export async function packStoredRanges({ read, write }: Pick<Store, 'read' | 'write'>): Promise<void> {
  const unpacked = read.selectFrom('login_profile').select(['tid', 'id', 'ip_range']).where('ip_bounds', 'is', null).limit(atOnce);
  for (let rows = await unpacked.execute(); rows.length > 0; rows = await unpacked.execute()) {
    const packed = rows.map(({ tid, id, ip_range }) => ({ tid, id, ip_range, ip_bounds: packList(ip_range) }));
    await write(async (tx) => {
      for (const { tid, id, ip_range, ip_bounds } of packed)
        await tx
          .updateTable('login_profile')
          .set({ ip_bounds })
          .where('tid', '=', tid)
          .where('id', '=', id)
          .where('ip_range', '=', ip_range) // it may have been changed meanwhile
          .execute();
    });
  }
}
