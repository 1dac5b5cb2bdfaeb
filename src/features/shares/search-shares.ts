import Type from 'typebox';
import { recordId } from '#core/records/field.ts';
import { searchEnvelope, searchQuery } from '#core/records/search.ts';
import { Share, type ShareState, shareStates } from '#core/records/share.ts';
import { read } from '#features/operation.ts';
import { envelope, filters, findPage, holdsWord, readPage } from '#features/record-search.ts';
import type { Tx } from '#ports/store.ts';
import { pathKey } from './share-body.ts';
import { sortColumns } from './share-columns.ts';
import { isBelow, shareRecords } from './share-rows.ts';

const matches = (db: Tx, tid: number) =>
  db
    .selectFrom('share')
    .innerJoin('login_profile', 'login_profile.id', 'share.profile_id')
    .innerJoin('location', 'location.id', 'share.location_id')
    .where('share.tid', '=', tid);

/** The same states as the decision knows, at this instant. */
function inState(found: ReturnType<typeof matches>, state: ShareState, now: number) {
  if (state === 'inactive') return found.where('share.active', '=', 0);
  const active = found.where('share.active', '=', 1);
  const begun = active.where(({ or, eb }) => or([eb('share.valid_from', 'is', null), eb('share.valid_from', '<=', now)]));
  if (state === 'scheduled') return active.where('share.valid_from', '>', now);
  if (state === 'ended') return begun.where('share.valid_to', '<=', now);
  return begun.where(({ or, eb }) => or([eb('share.valid_to', 'is', null), eb('share.valid_to', '>', now)]));
}

export const searchShares = read({
  name: 'share/search',
  method: 'GET',
  role: 'reader',
  summary: 'Finds shares.',
  body: searchQuery({
    path: Type.Optional(Type.String({ minLength: 1, maxLength: 4096, description: 'That path and all below it, in any location.' })),
    authType: Type.Optional(Type.Integer({ minimum: 1, maximum: 7, description: "Login profile's type." })),
    authId: Type.Optional(recordId('Login profile.')),
    state: Type.Optional(Type.Enum([...shareStates], { description: 'State of the link at this instant.' })),
  }),
  answer: searchEnvelope(Share),
  async read(query, caller, ports) {
    const page = readPage(query, sortColumns);
    const { word, from, before } = page;
    let found = matches(ports.store.search, caller.tid);
    if (word !== null) found = found.where(({ or }) => or([holdsWord('share.search_text', word), holdsWord('location.search_text', word)]));
    if (from !== null) found = found.where('share.created_at', '>=', from);
    if (before !== null) found = found.where('share.updated_at', '<', before);
    if (query.path !== undefined) found = found.where(isBelow(pathKey(query.path)));
    if (query.authType !== undefined) found = found.where('login_profile.type_id', '=', query.authType);
    if (query.authId !== undefined) found = found.where('share.profile_id', '=', query.authId);
    if (query.state !== undefined) found = inState(found, query.state, ports.clock.now());
    const { ids, ...rest } = await findPage(found, page, 'share.id');
    const list = await shareRecords(ports.store.search, caller.tid, ids, ports.links);
    return envelope('share', { list, ...rest }, page, filters(query), caller, ports, 'editor');
  },
});
