import Type from 'typebox';
import { rootPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import { bodyOf } from '#core/records/field.ts';
import { locationFields } from '#core/records/location.ts';
import { readOperation } from '#features/operation.ts';
import { openLocation } from '#features/storage-access/open-location.ts';
import type { Storage } from '#ports/storage.ts';

const tokenBits = 96;

const TestResponse = Type.Object({
  works: Type.Boolean({ description: 'Whether all tests succeeded.' }),
  tried: Type.Array(Type.Object({ what: Type.String(), works: Type.Boolean(), detail: Type.String() })),
});

/** Reading is tried by listing the root, writing by an upload that is discarded before it is published. */
const probes: Record<string, (storage: Storage, token: string) => Promise<void>> = {
  async list(storage) {
    const batches = await storage.list(rootPath);
    if (!batches) throw new Error('there is no folder');
    for await (const _ of batches) break;
  },
  async write(storage, token) {
    const upload = await storage.upload({ parent: rootPath, name: `test-${token}`, size: null, ifTaken: 'refuse' }, token);
    try {
      await upload.write(new TextEncoder().encode('Postern tries this location.'));
    } finally {
      await upload.discard();
    }
  },
};

export const testLocation = readOperation({
  name: 'location/test',
  isTest: true,
  method: 'POST',
  role: 'admin',
  summary: 'Tests whether a location can be listed and written to. Leaves no files behind.',
  body: bodyOf(locationFields, ['id'], []),
  response: TestResponse,
  async read({ id }, caller, { store, storages, vault, random }) {
    const row = await store.read.selectFrom('location').selectAll().where('tid', '=', caller.tid).where('id', '=', id).executeTakeFirst();
    if (!row) throw new Refusal('recordUnknown');
    const results: { what: string; works: boolean; detail: string }[] = [];
    for (const [what, probe] of Object.entries(probes)) {
      try {
        await probe(await openLocation(row, { storages, vault }), random.token(tokenBits));
        results.push({ what, works: true, detail: '' });
      } catch (cause) {
        results.push({ what, works: false, detail: cause instanceof Error ? cause.message : 'failed' });
      }
    }
    return { works: results.every(({ works }) => works), tried: results };
  },
});
