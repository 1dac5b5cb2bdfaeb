import { sql } from 'kysely';
import type { Ports } from '#ports/ports.ts';

const prefix = 'unknown link from ';

/**
 * Tells the other processes on a database of the unknown links that were tried at this one, and asks what all have seen.
 * They are kept with the failed sign-ins, and go with them.
 * @param since beginning of the minute that they belong to, ms
 * @param tried the network of each
 * @returns how many were tried since then, by network
 */
export async function exchangeUnknownLinks(
  { store }: Pick<Ports, 'store'>,
  since: number,
  tried: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = tried.map((network) => ({ key: prefix + network, at: since }));
  if (rows.length > 0) await store.write(async (tx) => void (await tx.insertInto('failure').values(rows).execute()), 'job');
  const seen = await store.read
    .selectFrom('failure')
    .select(['key', sql<number>`count(*)`.as('count')])
    .where('at', '=', since)
    .where('key', 'like', `${prefix}%`)
    .groupBy('key')
    .execute();
  return new Map(seen.map(({ key, count }) => [key.slice(prefix.length), Number(count)]));
}
