import Type from 'typebox';
import { formatInstant } from '#core/instant.ts';
import { Refusal } from '#core/messages.ts';
import { recordId } from '#core/records/field.ts';
import { readOperation } from '#features/operation.ts';

const maxUploads = 100; // in a response: visitors choose the paths, which may be long

const UnfinishedUploads = Type.Object({
  list: Type.Array(
    Type.Object({
      path: Type.String({ description: 'Path of the file in the share.' }),
      visitor: Type.String({ description: 'Display name of the visitor. Empty for visitors without sign-in.' }),
      size: Type.Integer({ description: 'Bytes of the complete file.' }),
      received: Type.Integer({ description: 'Bytes that have arrived.' }),
      expiresDateTime: Type.String({ format: 'date-time', description: 'When the upload expires, unless more bytes arrive before then.' }),
    }),
    { description: 'The uploads, at most 100. The one that expires last comes first.' },
  ),
  totalCount: Type.Integer({ description: 'Number of all unfinished uploads at the share.' }),
});

export const unfinishedUploads = readOperation({
  name: 'share/unfinishedUploads',
  isSearch: true,
  method: 'POST',
  role: 'reader',
  summary: 'Lists the unfinished uploads in parts at a share.',
  body: Type.Object({ id: recordId('Share.') }, { additionalProperties: false }),
  response: UnfinishedUploads,
  async read({ id }, { tid }, { store, clock }) {
    const share = await store.read.selectFrom('share').select('id').where('tid', '=', tid).where('id', '=', id).executeTakeFirst();
    if (!share) throw new Refusal('recordUnknown');
    const uploads = store.search
      .selectFrom('resumable_upload')
      .where('tid', '=', tid)
      .where('share_id', '=', id)
      .where('stored_name', 'is', null)
      .where('expires_at', '>', clock.now());
    const { total } = await uploads.select(({ fn }) => fn.countAll<number | string>().as('total')).executeTakeFirstOrThrow();
    const rows = await uploads
      .select(['path', 'visitor', 'size', 'received', 'expires_at'])
      .orderBy('expires_at', 'desc')
      .limit(maxUploads)
      .execute();
    const list = rows.map(({ expires_at: expires, ...upload }) => ({ ...upload, expiresDateTime: formatInstant(expires) }));
    return { list, totalCount: Number(total) };
  },
});
