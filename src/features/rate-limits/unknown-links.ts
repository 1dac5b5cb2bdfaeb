import { sql } from 'kysely';
import type { Ports } from '#ports/ports.ts';

const prefix = 'unknown link from ';

/**
 * Shares the counts of unknown links with the other processes on the database. Stores them as rows of `failure`, which are deleted with the
 * failed sign-in attempts.
 * @param since start of the current minute, ms since the epoch
 * @param networks of the requests, one entry for each count. An IPv6 client counts for its network and for its site
 * @throws StoreUnavailable, StoreFull
 */
export async function addUnknownLinks({ store }: Pick<Ports, 'store'>, since: number, networks: readonly string[]): Promise<void> {
  const values = networks.map((network) => ({ key: prefix + network, at: since }));
  if (values.length > 0) await store.write(async (tx) => void (await tx.insertInto('failure').values(values).execute()), 'job');
}

/** Returns how many requests for unknown links all processes have shared since the start of the current minute, by network or site. */
export async function countUnknownLinks({ store }: Pick<Ports, 'store'>, since: number): Promise<ReadonlyMap<string, number>> {
  const rows = await store.read
    .selectFrom('failure')
    .select(['key', sql<number>`count(*)`.as('count')])
    .where('at', '=', since)
    .where('key', 'like', `${prefix}%`)
    .groupBy('key')
    .execute();
  return new Map(rows.map(({ key, count }) => [key.slice(prefix.length), Number(count)]));
}
