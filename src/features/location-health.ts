import type { Ports } from '#ports/ports.ts';
import { openLocation } from './location-configuration.ts';

const patience = 1000; // ms; a mount that hangs is told as away

/** Does a location answer? */
export interface LocationHealth {
  readonly id: number;
  readonly tid: number;
  readonly name: string;
  readonly kind: string;
  readonly answers: boolean;
}

/** Runs a check and says only whether it passed, and in time. */
export async function passes(check: () => Promise<unknown>): Promise<boolean> {
  const late = new Promise<never>((_, reject) => setTimeout(reject, patience, new Error('no answer')).unref());
  return Promise.race([check(), late]).then(
    () => true,
    () => false,
  );
}

/** Asks every location, or those of one tenant, whether it answers. */
export async function locationsHealth(
  { store, storages, vault }: Pick<Ports, 'store' | 'storages' | 'vault'>,
  tid?: number,
): Promise<readonly LocationHealth[]> {
  const all = store.read.selectFrom('location').selectAll().orderBy('id');
  const rows = await (tid === undefined ? all : all.where('tid', '=', tid)).execute();
  const answers = (row: (typeof rows)[number]) => passes(async () => (await openLocation(row, { storages, vault })).check());
  return Promise.all(rows.map(async (row) => ({ id: row.id, tid: row.tid, name: row.name, kind: row.kind, answers: await answers(row) })));
}
