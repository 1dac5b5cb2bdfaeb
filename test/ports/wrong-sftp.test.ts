import assert from 'node:assert/strict';
import { test } from 'node:test';
import ssh2, { type SFTPWrapper } from 'ssh2';
import { signInAgent } from '#adapters/storage/sftp/sign-in-agent.ts';
import { storageMemory } from '#adapters/storage/storage-memory.ts';
import { StorageBusy, StorageUnavailable } from '#ports/storage-errors.ts';
import { folderStats, newKeyPair, startFakeSftp } from '../parts/fake-sftp.ts';
import { until } from './until.ts';

const { OK, EOF, NO_SUCH_FILE } = ssh2.utils.sftp.STATUS_CODE;

/** Answers like a server that contains only folders. @param childrenOf returns the names in a folder */
function answerWithFolders(sftp: SFTPWrapper, childrenOf: (path: string) => readonly string[], remove: (path: string) => void): void {
  const unread = new Map<string, readonly string[]>();
  let handleCount = 0;
  sftp.on('LSTAT', (id) => sftp.attrs(id, folderStats));
  sftp.on('OPENDIR', (id, path) => {
    handleCount += 1;
    unread.set(`${handleCount}`, childrenOf(path));
    sftp.handle(id, Buffer.from(`${handleCount}`));
  });
  sftp.on('READDIR', (id, handle) => {
    const names = unread.get(handle.toString()) ?? [];
    unread.delete(handle.toString());
    if (names.length === 0) return sftp.status(id, EOF);
    sftp.name(
      id,
      names.map((filename) => ({ filename, longname: filename, attrs: folderStats })),
    );
  });
  sftp.on('CLOSE', (id) => sftp.status(id, OK));
  sftp.on('RMDIR', (id, path) => {
    remove(path);
    sftp.status(id, OK);
  });
}

test('the removal of a folder ends with an error at a server that nests folders without end', async (t) => {
  const removedPaths: string[] = [];
  const items = await startFakeSftp(t, (sftp) =>
    answerWithFolders(
      sftp,
      () => ['a', 'b'],
      (path) => removedPaths.push(path),
    ),
  );
  await assert.rejects(
    items.delete(['folder']),
    (cause: Error) => cause instanceof StorageUnavailable && /levels deep/.test(cause.message),
  );
  assert.deepEqual(removedPaths, []);
});

test('the removal of a folder ends with an error after ten minutes at a server that answers slowly', async (t) => {
  let [now, requestCount] = [0, 0];
  const items = await startFakeSftp(
    t,
    (sftp) => {
      answerWithFolders(
        sftp,
        () => ['a', 'b'],
        () => {},
      );
      sftp.on('OPENDIR', () => {
        requestCount += 1;
        now += 29_000;
      });
    },
    { monotonic: () => now },
  );
  await assert.rejects(items.delete(['folder']), /takes too long/);
  assert.equal(requestCount, 21);
});

test('the removal of a folder ends with an error at a server that lists names of more than 255 characters', async (t) => {
  const items = await startFakeSftp(t, (sftp) =>
    answerWithFolders(
      sftp,
      () => ['a'.repeat(256)],
      () => {},
    ),
  );
  await assert.rejects(items.delete(['folder']), /a name that no file can have/);
});

test('while a folder is removed, the names held in memory count toward the memory limit of the tenant', async (t) => {
  const memory = storageMemory(100_000);
  const items = await startFakeSftp(
    t,
    (sftp) =>
      answerWithFolders(
        sftp,
        () => ['a', 'b', 'c', 'd'].map((name) => name.repeat(250)),
        () => {},
      ),
    { memory },
  );
  await assert.rejects(items.delete(['folder']), StorageBusy);
  using task = memory.of(1).begin();
  task.set(50_000);
});

test('a location removes at most four folders at once', async (t) => {
  const openings: (() => void)[] = [];
  let maxOpenings = 0;
  const items = await startFakeSftp(t, (sftp) => {
    answerWithFolders(
      sftp,
      () => [],
      () => {},
    );
    const [openFolder] = sftp.listeners('OPENDIR');
    sftp.removeAllListeners('OPENDIR').on('OPENDIR', (id, path) => {
      openings.push(() => openFolder?.call(sftp, id, path));
      maxOpenings = Math.max(maxOpenings, openings.length);
    });
  });
  const deletions = Array.from({ length: 8 }, (_, index) => items.delete([`f${index}`]));
  let hasEnded = false;
  const end = Promise.allSettled(deletions).finally(() => {
    hasEnded = true;
  });
  await until(() => openings.length >= 4);
  for (let count = 0; count < 3; count += 1) await items.find(['other']); // the server answers it after all earlier requests
  assert.equal(openings.length, 4);
  await until(() => {
    for (const open of openings.splice(0)) open();
    return hasEnded;
  });
  assert.ok((await end).every(({ status }) => status === 'fulfilled'));
  assert.equal(maxOpenings, 4);
});

test('a folder with hundreds of folders is removed, and nothing else', async (t) => {
  const remainingNames = new Set(Array.from({ length: 250 }, (_, index) => `f${index}`));
  const removedPaths: string[] = [];
  const items = await startFakeSftp(t, (sftp) =>
    answerWithFolders(
      sftp,
      (path) => (path === '/folder' ? [...remainingNames] : []),
      (path) => {
        removedPaths.push(path);
        remainingNames.delete(path.slice('/folder/'.length));
      },
    ),
  );
  await items.delete(['folder']);
  assert.deepEqual([remainingNames.size, removedPaths.length, removedPaths.at(-1)], [0, 251, '/folder']);
});

test('the removal of a folder succeeds even if another program removes it, or a folder in it, at the same moment', async (t) => {
  const removedPaths: string[] = [];
  const items = await startFakeSftp(t, (sftp) => {
    answerWithFolders(
      sftp,
      (path) => (path === '/folder' ? ['gone'] : []),
      (path) => removedPaths.push(path),
    );
    const [openFolder] = sftp.listeners('OPENDIR');
    sftp.removeAllListeners('OPENDIR').on('OPENDIR', (id, path) => {
      if (path === '/folder') openFolder?.call(sftp, id, path);
      else sftp.status(id, NO_SUCH_FILE);
    });
  });
  await items.delete(['folder']);
  await items.delete(['another']);
  assert.deepEqual(removedPaths, ['/folder/gone', '/folder', '/another']);
});

/** Answers like a server with a folder whose list never ends. @param filename name of every entry */
function answerWithEndlessList(sftp: SFTPWrapper, filename: string): void {
  sftp.on('OPENDIR', (id) => sftp.handle(id, Buffer.from('1')));
  sftp.on('READDIR', (id) => sftp.name(id, [{ filename, longname: filename, attrs: folderStats }]));
  sftp.on('CLOSE', (id) => sftp.status(id, OK));
}

test('a caller can stop reading an endless list of invalid names after each response of the server', async (t) => {
  const items = await startFakeSftp(t, (sftp) => answerWithEndlessList(sftp, 'a/b'));
  let batchCount = 0;
  for await (const batch of items.list([])) {
    assert.deepEqual(batch, []);
    batchCount += 1;
    if (batchCount === 3) break;
  }
  assert.equal(batchCount, 3);
});

test('a list ends with an error after the server has taken five minutes for its responses', async (t) => {
  let time = 0;
  const addMinute = () => {
    time += 60_000;
    return time;
  };
  const items = await startFakeSftp(t, (sftp) => answerWithEndlessList(sftp, 'name'), { monotonic: addMinute });
  const names: string[] = [];
  await assert.rejects(
    async () => {
      for await (const batch of items.list([])) names.push(...batch.map(({ name }) => name));
    },
    (cause: Error) => cause instanceof StorageUnavailable && /too long/.test(cause.message),
  );
  assert.deepEqual(names, Array(5).fill('name'));
});

test('a read ends with an error at a server that sends one byte in each answer', async (t) => {
  let requestCount = 0;
  const items = await startFakeSftp(t, (sftp) => {
    sftp.on('OPEN', (id) => sftp.handle(id, Buffer.from('1')));
    sftp.on('READ', (id) => {
      requestCount += 1;
      sftp.data(id, Buffer.from('a'));
    });
    sftp.on('CLOSE', (id) => sftp.status(id, OK));
  });
  await assert.rejects(items.readText(['file']), /too many small pieces/);
  assert.ok(requestCount < 1000);
});

test('a server gets at most three signatures made with a private key, however many it requests', async () => {
  const key = ssh2.utils.parseKey(newKeyPair().private);
  assert.ok(!(key instanceof Error));
  const agent = signInAgent(ssh2.BaseAgent, key);
  const results: boolean[] = [];
  for (let count = 0; count < 5; count += 1) agent.sign(key, Buffer.from('data'), {}, (error) => results.push(!error));
  assert.deepEqual(results, [true, true, true, false, false]);
});
