import { sql } from 'kysely';
import Type from 'typebox';
import { formatInstant, parseInstant } from '#core/instant.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { recordId } from '#core/records/field.ts';
import { countsByDay, type VisitorEntries, visitorEntries, visitorSums } from '#features/audit/visitor-counts.ts';
import { read } from '#features/operation.ts';

const optionalDate = (description: string) =>
  Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description }));
const countFields = {
  visits: Type.Integer({ description: 'What one visitor does from one address within half an hour is a visit.' }),
  downloads: Type.Integer(),
  uploads: Type.Integer(),
};

const ActivityResponse = Type.Object({
  byDay: Type.Array(Type.Object({ date: Type.String({ description: 'Day in UTC.' }), ...countFields })),
  byVisitor: Type.Array(
    Type.Object({
      visitor: Type.String({ description: 'User name; empty: nobody in particular.' }),
      ...countFields,
      lastDateTime: Type.String({ format: 'date-time' }),
    }),
  ),
  notCome: Type.Array(Type.String(), { description: 'Users that the share lists who have done nothing there in that time.' }),
});

function parseDate(field: string, text: string | null | undefined, meaning: 'firstOfDay' | 'firstOfNextDay'): number | null {
  if (!text) return null;
  const instant = parseInstant(text, meaning);
  if (instant === null) throw fieldRefusal(field, 'must be an ISO 8601 date or date-time that exists');
  return instant;
}

async function countsByVisitor(rows: VisitorEntries) {
  const visitors = await rows
    .select([
      'actor as visitor',
      visitorSums.visits.as('visits'),
      visitorSums.downloads.as('downloads'),
      visitorSums.uploads.as('uploads'),
      sql<number>`max(at)`.as('last'),
    ])
    .groupBy('actor')
    .orderBy('last', 'desc')
    .limit(1000)
    .execute();
  return visitors.map(({ last, ...visitor }) => ({ ...visitor, lastDateTime: formatInstant(last) }));
}

export const shareActivity = read({
  name: 'share/activity',
  isReport: true,
  method: 'POST',
  role: 'reader',
  summary: 'Counts what visitors did at a share, by day and by visitor, and names the listed users who have not come.',
  body: Type.Object(
    { id: recordId('Share.'), fromDate: optionalDate('From this instant on.'), toDate: optionalDate('Before this instant.') },
    { additionalProperties: false },
  ),
  response: ActivityResponse,
  async read({ id, fromDate, toDate }, caller, { store }) {
    const share = await store.reports
      .selectFrom('share')
      .select('id')
      .where('tid', '=', caller.tid)
      .where('id', '=', id)
      .executeTakeFirst();
    if (!share) throw new Refusal('recordUnknown');
    const [from, before] = [parseDate('fromDate', fromDate, 'firstOfDay'), parseDate('toDate', toDate, 'firstOfNextDay')];
    const rows = visitorEntries(store.reports, caller.tid, from, before).where('share_id', '=', id);
    const listedNames = store.reports.selectFrom('share_user').select('name').where('tid', '=', caller.tid).where('share_id', '=', id);
    // One set operation: in a condition, PostgreSQL may compare each listed name with every audit entry.
    const missing = new Set((await listedNames.except(rows.select('actor as name')).execute()).map(({ name }) => name));
    const names = (await listedNames.orderBy('position').execute()).map(({ name }) => name);
    return { byDay: await countsByDay(rows), byVisitor: await countsByVisitor(rows), notCome: names.filter((name) => missing.has(name)) };
  },
});
