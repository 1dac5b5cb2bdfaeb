import { type SqlBool, sql } from 'kysely';
import Type from 'typebox';
import { limits, recordId } from '#core/records/field.ts';
import { searchEnvelope, searchQuery } from '#core/records/search.ts';
import { Share, type ShareState, shareStates } from '#core/records/share.ts';
import { normalizeText } from '#core/unicode.ts';
import { read } from '#features/operation.ts';
import { asEmpty, emptyFirst, envelopeOf, findPage, hasFilter, parsePage } from '#features/records/record-search.ts';
import type { Store, Tx } from '#ports/store.ts';
import { pathKey } from './share-body.ts';
import { shareSortColumns } from './share-columns.ts';
import { sharesOfPage } from './share-page.ts';
import { isBelow } from './share-rows.ts';

const sharesOf = (db: Tx, tid: number) => db.selectFrom('share').where('share.tid', '=', tid);

/** The locations whose name holds the word: their shares are found by it too. */
async function locationsHolding({ read, dialect }: Store, tid: number, word: string): Promise<number[]> {
  const found = read.selectFrom('location').select('id').where('tid', '=', tid).where(dialect.holds('location.search_text', word));
  return (await found.execute()).map(({ id }) => id);
}

const locationNamed = (db: Tx, tid: number, name: string) =>
  db.selectFrom('location').select('location.id').where('location.tid', '=', tid).where('location.name', '=', name);

async function wordIn(store: Store, tid: number, word: string | null) {
  if (word === null) return null;
  const within = await locationsHolding(store, tid, word);
  const inText = store.dialect.holds('share.search_text', word);
  const holds = within.length === 0 ? inText : sql<SqlBool>`(${inText} or share.location_id in (${sql.join(within)}))`;
  return { word, within, holds };
}

/** As an index holds it (0003-lists). */
const endOf = emptyFirst('share.valid_to');

/** The same states as the decision knows, at this instant. */
function inState(found: ReturnType<typeof sharesOf>, state: ShareState, now: number) {
  if (state === 'inactive') return found.where('share.active', '=', 0);
  const active = found.where('share.active', '=', 1);
  const begun = active.where(({ or, eb }) => or([eb('share.valid_from', 'is', null), eb('share.valid_from', '<=', now)]));
  if (state === 'scheduled') return active.where('share.valid_from', '>', now);
  if (state === 'ended') return begun.where(endOf, '>', asEmpty).where(endOf, '<=', now);
  return begun.where(({ or, eb }) => or([eb('share.valid_to', 'is', null), eb('share.valid_to', '>', now)]));
}

export const searchShares = read({
  name: 'share/search',
  isSearch: true,
  method: 'GET',
  role: 'reader',
  summary: 'Finds shares.',
  body: searchQuery({
    path: Type.Optional(Type.String({ minLength: 1, maxLength: 4096, description: 'That path and all below it, in any location.' })),
    authType: Type.Optional(Type.Integer({ minimum: 1, maximum: 7, description: "Login profile's type." })),
    authId: Type.Optional(recordId('Login profile.')),
    location: Type.Optional(Type.String({ minLength: 1, maxLength: limits.name, description: 'Name of the location.' })),
    state: Type.Optional(Type.Enum([...shareStates], { description: 'State of the link at this instant.' })),
  }),
  response: searchEnvelope(Share),
  async read(query, caller, ports) {
    const page = parsePage(query, shareSortColumns);
    const { word, from, before } = page;
    const { search } = ports.store;
    let found = sharesOf(search, caller.tid);
    if (from !== null) found = found.where('share.created_at', '>=', from);
    if (before !== null) found = found.where('share.updated_at', '<', before);
    if (query.path !== undefined) found = found.where(isBelow(pathKey(query.path)));
    if (query.authType !== undefined)
      found = found.where(
        'share.profile_id',
        'in',
        search.selectFrom('login_profile').select('login_profile.id').where('tid', '=', caller.tid).where('type_id', '=', query.authType),
      );
    if (query.authId !== undefined) found = found.where('share.profile_id', '=', query.authId);
    if (query.location !== undefined)
      found = found.where('share.location_id', 'in', locationNamed(search, caller.tid, normalizeText(query.location)));
    if (query.state !== undefined) found = inState(found, query.state, ports.clock.now());
    const { searchWord: _, ...others } = query;
    const lasting = query.authType === undefined && query.location === undefined && query.state === undefined;
    const { ids, ...rest } = await findPage(ports.store, {
      matches: found,
      page,
      id: 'share.id',
      word: await wordIn(ports.store, caller.tid, word),
      counted: { table: 'share', tid: caller.tid, narrowed: hasFilter(others), lasting },
    });
    const list = await sharesOfPage(ports.store, caller.tid, ids, ports.links);
    return envelopeOf('share', { list, ...rest }, page, hasFilter(query), caller, ports, 'editor');
  },
});
