import { Refusal } from '#core/messages.ts';
import { bodyOf } from '#core/records/field.ts';
import { Share, shareFields } from '#core/records/share.ts';
import { readOperation } from '#features/operation.ts';
import { selectShareReader, shareRecords } from './share-rows.ts';

export const getShare = readOperation({
  name: 'share/get',
  method: 'POST',
  role: 'reader',
  summary: 'Returns a share.',
  body: bodyOf(shareFields, ['id'], []),
  response: Share,
  async read({ id }, caller, { store, links }) {
    const [record] = await store.cachedUntilChange(`share ${caller.tid} ${id}`, async () =>
      shareRecords(await selectShareReader(store, caller.tid, id), caller.tid, [id], links),
    );
    if (!record) throw new Refusal('recordUnknown');
    return record;
  },
});
