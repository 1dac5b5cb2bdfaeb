import Type from 'typebox';
import { formatInstant } from '#core/instant.ts';
import { recordId } from '#core/records/field.ts';
import { maxPageSize } from '#core/records/search.ts';
import { admittedActions } from '#features/audit/visitor-counts.ts';
import { readOperation } from '#features/operation.ts';
import type { Tx } from '#ports/store.ts';

const LastVisits = Type.Object({
  list: Type.Array(
    Type.Object({
      id: recordId('Share.'),
      lastVisitDateTime: Type.String({ format: 'date-time', description: 'Time of the last action of an admitted visitor at the share.' }),
    }),
    { description: 'Those of the requested shares that have a visit in the audit log.' },
  ),
});

/** Selects the instant of each share's last visit. Reads the index entries of a share from the newest to that visit, and no older ones. */
const selectLastVisits = (db: Tx, tid: number) =>
  db
    .selectFrom('share')
    .where('share.tid', '=', tid)
    .select('share.id')
    .select((share) =>
      share
        .selectFrom('audit')
        .select('audit.at')
        .where('audit.tid', '=', tid)
        // Two bounds in place of `=`: PostgreSQL then always uses the index that has the order below, whatever its statistics say.
        .whereRef('audit.share_id', '>=', 'share.id')
        .whereRef('audit.share_id', '<=', 'share.id')
        .where('audit.actor_kind', '=', 'visitor')
        .where('audit.outcome', 'in', ['done', 'begun'])
        .where('audit.action', 'in', [...admittedActions])
        .orderBy('audit.share_id', 'desc')
        .orderBy('audit.at', 'desc')
        .limit(1)
        .as('at'),
    );

export const lastVisits = readOperation({
  name: 'share/lastVisits',
  isSearch: true,
  method: 'POST',
  role: 'reader',
  summary: 'Returns when shares were last visited.',
  body: Type.Object(
    { ids: Type.Array(recordId('Share.'), { minItems: 1, maxItems: maxPageSize, description: 'Ids of the shares.' }) },
    { additionalProperties: false },
  ),
  response: LastVisits,
  async read({ ids }, caller, { store }) {
    const rows = await selectLastVisits(store.search, caller.tid).where('share.id', 'in', ids).orderBy('share.id').execute();
    return { list: rows.flatMap(({ id, at }) => (at === null ? [] : [{ id, lastVisitDateTime: formatInstant(at) }])) };
  },
});
