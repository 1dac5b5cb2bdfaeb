import Type from 'typebox';
import { formatInstant } from '#core/instant.ts';
import { Refusal } from '#core/messages.ts';
import { recordId } from '#core/records/field.ts';
import { readOperation } from '#features/operation.ts';

const maxUploads = 1000; // a link cannot have more unfinished uploads (create-upload.ts)

const UnfinishedUploads = Type.Object({
  list: Type.Array(
    Type.Object({
      path: Type.String({ description: 'Path of the file in the share.' }),
      visitor: Type.String({ description: 'Display name of the visitor. Empty for visitors without sign-in.' }),
      size: Type.Integer({ description: 'Bytes of the complete file.' }),
      received: Type.Integer({ description: 'Bytes that have arrived.' }),
      expiresDateTime: Type.String({ format: 'date-time', description: 'When the upload ends, unless more bytes arrive.' }),
    }),
    { description: 'The uploads. The one that expires last comes first.' },
  ),
});

export const unfinishedUploads = readOperation({
  name: 'share/unfinishedUploads',
  method: 'POST',
  role: 'reader',
  summary: 'Lists the unfinished uploads in parts at a share.',
  body: Type.Object({ id: recordId('Share.') }, { additionalProperties: false }),
  response: UnfinishedUploads,
  async read({ id }, { tid }, { store, clock }) {
    const share = await store.read.selectFrom('share').select('id').where('tid', '=', tid).where('id', '=', id).executeTakeFirst();
    if (!share) throw new Refusal('recordUnknown');
    const rows = await store.read
      .selectFrom('resumable_upload')
      .select(['path', 'visitor', 'size', 'received', 'expires_at'])
      .where('tid', '=', tid)
      .where('share_id', '=', id)
      .where('stored_name', 'is', null)
      .where('expires_at', '>', clock.now())
      .orderBy('expires_at', 'desc')
      .limit(maxUploads)
      .execute();
    return { list: rows.map(({ expires_at: expires, ...upload }) => ({ ...upload, expiresDateTime: formatInstant(expires) })) };
  },
});
