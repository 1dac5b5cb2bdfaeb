import Type from 'typebox';
import { formatInstant, parseInstant } from '#core/instant.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { recordId } from '#core/records/field.ts';
import { addSums, addToKey, dayCounts, type VisitorCounts, type VisitSums, visitorDays } from '#features/audit/visitor-counts.ts';
import { readOperation } from '#features/operation.ts';
import { readListedVisitors } from './listed-visitors.ts';

const optionalDate = (description: string) =>
  Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description }));
const countFields = {
  visits: Type.Integer({
    description:
      'Visits. All actions of one visitor from one address in one half hour of the clock, such as 10:00 to 10:30, count as one visit.',
  }),
  downloads: Type.Integer(),
  uploads: Type.Integer(),
};

const ActivityResponse = Type.Object({
  byDay: Type.Array(Type.Object({ date: Type.String({ description: 'Day in UTC.' }), ...countFields })),
  byVisitor: Type.Array(
    Type.Object({
      visitor: Type.String({
        description: 'Display name of the visitor; of an access user, the user name. Empty for visitors without sign-in.',
      }),
      ...countFields,
      lastDateTime: Type.String({ format: 'date-time' }),
    }),
  ),
  notVisited: Type.Array(Type.String(), {
    description: 'Entries of userNames without a visit between fromDate and toDate. Groups are not included.',
  }),
});

function parseDate(field: string, text: string | null | undefined, meaning: 'firstOfDay' | 'firstOfNextDay'): number | null {
  if (!text) return null;
  const instant = parseInstant(text, meaning);
  if (instant === null) throw fieldRefusal(field, 'must be an existing date or date-time in ISO 8601 format');
  return instant;
}

const maxVisitors = 1000;

type VisitorSums = VisitSums & { readonly visitor: string; readonly last: number };

interface Activity {
  /** By the first instant of each day. */
  readonly byDay: Map<number, VisitSums>;
  /** The most recent visitors. */
  readonly byVisitor: Map<string, VisitorSums>;
  /** Keys of the visitors by name. */
  readonly keysByName: Map<string, string>;
}

/** Adds a day of a visitor. Days come newest first, so the first day of a visitor has the time of their last action. */
function addVisitorCounts({ byDay, byVisitor, keysByName }: Activity, day: VisitorCounts): void {
  addToKey(byDay, day.start, day);
  const { visitor, visits, downloads, uploads, last } = day;
  // Entries without sign-in or of earlier versions have no identity: they count for the most recent visitor with the same name.
  const key = day.identityKey ?? keysByName.get(visitor) ?? `unidentified ${visitor}`;
  const present = byVisitor.get(key);
  if (!present && byVisitor.size >= maxVisitors) return;
  if (!keysByName.has(visitor)) keysByName.set(visitor, key);
  byVisitor.set(key, present ? { ...present, ...addSums(present, day) } : { visitor, visits, downloads, uploads, last });
}

export const shareActivity = readOperation({
  name: 'share/activity',
  isReport: true,
  method: 'POST',
  role: 'reader',
  summary: 'Counts the actions of visitors at a share by day and by visitor, and returns the listed users who did not visit it.',
  body: Type.Object(
    {
      id: recordId('Share.'),
      fromDate: optionalDate('From this instant on.'),
      toDate: optionalDate('Before this instant. A date without a time: until the end of that day.'),
    },
    { additionalProperties: false },
  ),
  response: ActivityResponse,
  async read({ id, fromDate, toDate }, { tid }, { store: { reports } }, inTurn) {
    const [from, before] = [parseDate('fromDate', fromDate, 'firstOfDay'), parseDate('toDate', toDate, 'firstOfNextDay')];
    const listedVisitors = await inTurn(() => readListedVisitors(reports, tid, id));
    if (!listedVisitors) throw new Refusal('recordUnknown');
    const activity: Activity = { byDay: new Map(), byVisitor: new Map(), keysByName: new Map() };
    for await (const days of visitorDays(reports, { tid, shareId: id, from, before }, inTurn))
      for (const day of days) {
        addVisitorCounts(activity, day);
        listedVisitors.add(day);
      }
    return {
      byDay: dayCounts(activity.byDay),
      byVisitor: [...activity.byVisitor.values()].map(({ last, ...counts }) => ({
        ...counts,
        lastDateTime: formatInstant(last),
      })),
      notVisited: listedVisitors.notVisited(),
    };
  },
});
