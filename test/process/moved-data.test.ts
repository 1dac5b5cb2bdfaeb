import assert from 'node:assert/strict';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { newShare, startPostern, temporaryFolder } from '../start.ts';

for (const member of ['path', 'folder'])
  test(`after the data folder is moved, Postern serves the files in the new folder, even if ${member} was absolute`, async (t) => {
    const [before, after] = [await temporaryFolder(t), join(await temporaryFolder(t), 'moved')];
    const first = await startPostern(t, { data: before });
    const { viewId } = await first.call('share/add', newShare());
    const { store, vault } = first.ports;
    // An admin or an earlier version stored an absolute path. The next start makes it relative.
    const configuration = vault.seal('location', JSON.stringify({ [member]: first.files, fileMode: '0640' }));
    await store.write((tx) => tx.updateTable('location').set({ configuration }).where('tid', '=', 1).execute(), 'job');
    await first.stop();
    const updatedPostern = await startPostern(t, { data: before }); // in the same folder
    assert.equal((await updatedPostern.call('location/get', { id: 1 })).configuration, `{"${member}":"files","fileMode":"0640"}`);
    await updatedPostern.stop();
    await cp(before, after, { recursive: true });
    await writeFile(join(after, 'files', 'moved.txt'), 'moved');
    const movedPostern = await startPostern(t, { data: after });
    assert.equal((await movedPostern.visit(`/s/${viewId}/file/moved.txt`)).body, 'moved');
  });
