import { type SqlBool, sql } from 'kysely';
import Type from 'typebox';
import { limits, recordId } from '#core/records/field.ts';
import { profileTypeId } from '#core/records/login-profile.ts';
import { searchEnvelope, searchQuery } from '#core/records/search.ts';
import { Share, type ShareState, shareStates } from '#core/records/share.ts';
import { normalizeText } from '#core/unicode.ts';
import { readOperation } from '#features/operation.ts';
import { emptyFirst, emptySortValue, findPage, hasFilter, parsePage, searchResponse } from '#features/records/record-search.ts';
import type { Store, Tx } from '#ports/store.ts';
import { sharePathKey } from './share-body.ts';
import { shareSortColumns } from './share-columns.ts';
import { pathCondition } from './share-rows.ts';
import { sharePageRecords } from './shares-of-page.ts';

const sharesOf = (db: Tx, tid: number) => db.selectFrom('share').where('share.tid', '=', tid);

/** Returns the locations whose name contains the word: the search finds their shares too. */
async function findLocationsByWord({ read, dialect }: Store, tid: number, word: string): Promise<number[]> {
  const query = read.selectFrom('location').select('id').where('tid', '=', tid).where(dialect.containsWord('location.search_text', word));
  return (await query.execute()).map(({ id }) => id);
}

const selectLocation = (db: Tx, tid: number, name: string) =>
  db.selectFrom('location').select('location.id').where('location.tid', '=', tid).where('location.name', '=', name);

async function wordFilter(store: Store, tid: number, word: string | null) {
  if (word === null) return null;
  const locationIds = await findLocationsByWord(store, tid, word);
  const inText = store.dialect.containsWord('share.search_text', word);
  const condition = locationIds.length === 0 ? inText : sql<SqlBool>`(${inText} or share.location_id in (${sql.join(locationIds)}))`;
  return { word, locationIds, condition };
}

/** The same expression as in the index (migration 0003-lists). */
const endInstant = emptyFirst('share.valid_to');

/** Narrows a query to shares in a state at this instant. The states are those of `decide`. */
function whereState(shares: ReturnType<typeof sharesOf>, state: ShareState, now: number) {
  if (state === 'inactive') return shares.where('share.active', '=', 0);
  const activeShares = shares.where('share.active', '=', 1);
  const startedShares = activeShares.where(({ or, eb }) => or([eb('share.valid_from', 'is', null), eb('share.valid_from', '<=', now)]));
  if (state === 'scheduled') return activeShares.where('share.valid_from', '>', now);
  if (state === 'ended') return startedShares.where(endInstant, '>', emptySortValue).where(endInstant, '<=', now);
  return startedShares.where(({ or, eb }) => or([eb('share.valid_to', 'is', null), eb('share.valid_to', '>', now)]));
}

export const searchShares = readOperation({
  name: 'share/search',
  isSearch: true,
  method: 'GET',
  role: 'reader',
  summary: 'Searches shares.',
  body: searchQuery({
    path: Type.Optional(
      Type.String({ minLength: 1, maxLength: 4096, description: 'Shares of this path and of everything below it, in any location.' }),
    ),
    authType: Type.Optional(profileTypeId("Login profile's type.")),
    authId: Type.Optional(recordId('Login profile.')),
    location: Type.Optional(Type.String({ minLength: 1, maxLength: limits.name, description: 'Name of the location.' })),
    state: Type.Optional(Type.Enum([...shareStates], { description: 'State of the link at this instant.' })),
  }),
  response: searchEnvelope(Share),
  async read(query, caller, ports) {
    const page = parsePage(query, shareSortColumns);
    const { word, from, before } = page;
    const { search } = ports.store;
    let matches = sharesOf(search, caller.tid);
    if (from !== null) matches = matches.where('share.created_at', '>=', from);
    if (before !== null) matches = matches.where('share.updated_at', '<', before);
    if (query.path !== undefined) matches = matches.where(pathCondition(sharePathKey(query.path)));
    if (query.authType !== undefined)
      matches = matches.where(
        'share.profile_id',
        'in',
        search.selectFrom('login_profile').select('login_profile.id').where('tid', '=', caller.tid).where('type_id', '=', query.authType),
      );
    if (query.authId !== undefined) matches = matches.where('share.profile_id', '=', query.authId);
    if (query.location !== undefined)
      matches = matches.where('share.location_id', 'in', selectLocation(search, caller.tid, normalizeText(query.location)));
    if (query.state !== undefined) matches = whereState(matches, query.state, ports.clock.now());
    const { searchWord: _, ...otherFilters } = query;
    const isCacheable = query.authType === undefined && query.location === undefined && query.state === undefined;
    const { ids, ...rest } = await findPage(ports.store, {
      matches,
      page,
      id: 'share.id',
      word: await wordFilter(ports.store, caller.tid, word),
      countedRecords: { table: 'share', tid: caller.tid, hasOtherFilters: hasFilter(otherFilters), isCacheable },
    });
    const list = await sharePageRecords(ports.store, caller.tid, ids, ports.links);
    return searchResponse('share', { list, ...rest }, page, hasFilter(query), caller, ports, 'editor');
  },
});
