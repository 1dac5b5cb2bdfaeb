import { sql } from 'kysely';
import Type from 'typebox';
import { formatInstant, millisecondsPerDay } from '#core/instant.ts';
import { count, instant, orNull, recordId } from '#core/records/field.ts';
import { addToKey, type DayCounts, dayCounts, type VisitSums, visitorDays } from '#features/audit/visitor-counts.ts';
import { type RunInTurn, readOperation } from '#features/operation.ts';
import { emptyFirst } from '#features/records/record-search.ts';
import { findSignature, signatureRecord } from '#features/signatures/stored-signature.ts';
import { locationsHealth } from '#features/storage-access/location-health.ts';
import type { Ports } from '#ports/ports.ts';

const daysBack = 30;
const daysAhead = 14;
const failureTime = 3 * millisecondsPerDay;
const maxEnding = 20;

const Overview = Type.Object({
  byDay: Type.Array(
    Type.Object({
      date: Type.String({ description: 'Day in UTC.' }),
      visits: count('Visits.'),
      downloads: count('Downloads.'),
      uploads: count('Uploads.'),
    }),
    { description: `Counts for each of the last ${daysBack} days, without days that have no activity.` },
  ),
  endingSoon: Type.Array(
    Type.Object({ id: recordId('Share.'), title: Type.String(), validityEndDate: Type.String({ format: 'date-time' }) }),
    { description: `Active shares that end within ${daysAhead} days, at most ${maxEnding}, sorted by their end.` },
  ),
  mailsWaiting: count('Mails and alerts that are not sent yet.'),
  mailsFailed: count('Mails that failed within the last three days and are not tried again.'),
  mail: Type.Boolean({ description: 'Whether a mail server is configured.' }),
  signatureValidTo: orNull(instant('When the certificate for digital signatures expires. null: none is stored.')),
  store: Type.String({ description: 'Database engine: sqlite or postgres.' }),
  locations: Type.Array(
    Type.Object({
      id: recordId('Location.'),
      name: Type.String(),
      kind: Type.String(),
      answers: Type.Boolean({ description: 'Whether the location is available now.' }),
    }),
  ),
});

/** Returns what visitors of a tenant did by day. @param from ms since the epoch */
async function visitorCounts({ store }: Ports, tid: number, from: number, inTurn: RunInTurn): Promise<DayCounts[]> {
  const sums = new Map<number, VisitSums>();
  const range = { tid, shareId: null, from, before: null };
  for await (const days of visitorDays(store.reports, range, inTurn)) for (const one of days) addToKey(sums, one.start, one);
  return dayCounts(sums);
}

async function findEndingShares({ store }: Ports, tid: number, now: number) {
  const end = emptyFirst('valid_to');
  const rows = await store.reports
    .selectFrom('share')
    .select(['id', 'title', 'valid_to'])
    .where('tid', '=', tid)
    .where(end, '>', now)
    .where(end, '<=', now + daysAhead * millisecondsPerDay)
    .where('active', '=', 1)
    .orderBy(end)
    .limit(maxEnding)
    .execute();
  return rows.map(({ id, title, valid_to }) => ({ id, title, validityEndDate: formatInstant(valid_to ?? now) }));
}

/**
 * Returns how many mails of a tenant are not sent yet, held ones included, and how many failed in the last three days. Each alert that is
 * not in a mail yet counts as a waiting mail.
 */
async function countTenantMails({ store }: Ports, tid: number, now: number): Promise<{ waiting: number; failed: number }> {
  const count = sql<number>`count(*)`.as('count');
  const deliveries = store.reports.selectFrom('delivery').select(count).where('tid', '=', tid);
  const waiting = await deliveries.where('state', 'in', ['waiting', 'sending', 'held']).executeTakeFirstOrThrow();
  const failed = await deliveries
    .where('state', '=', 'failed')
    .where('ended_at', '>', now - failureTime)
    .executeTakeFirstOrThrow();
  const alerts = await store.reports.selectFrom('alert').select(count).where('tid', '=', tid).executeTakeFirstOrThrow();
  return { waiting: waiting.count + alerts.count, failed: failed.count };
}

export const getOverview = readOperation({
  name: 'overview/get',
  isReport: true,
  method: 'GET',
  role: 'reader',
  summary: 'Returns the overview: counts of the last 30 days, shares that end soon, waiting mails, and the health of the locations.',
  body: Type.Object({}, { additionalProperties: false }),
  response: Overview,
  async read(_query, { tid }, ports, inTurn) {
    const now = ports.clock.now();
    const from = now - (now % millisecondsPerDay) - (daysBack - 1) * millisecondsPerDay;
    const locations = await locationsHealth(ports, tid);
    const mails = await inTurn(() => countTenantMails(ports, tid, now));
    return {
      byDay: await visitorCounts(ports, tid, from, inTurn),
      endingSoon: await inTurn(() => findEndingShares(ports, tid, now)),
      mailsWaiting: mails.waiting,
      mailsFailed: mails.failed,
      mail: ports.mail !== null,
      signatureValidTo: signatureRecord(await inTurn(() => findSignature(ports.store.reports, tid))).validTo,
      store: ports.store.dialect.name,
      locations: locations.map(({ id, name, kind, answers }) => ({ id, name, kind, answers })),
    };
  },
});
