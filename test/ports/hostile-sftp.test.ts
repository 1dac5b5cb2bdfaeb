import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Connection } from 'ssh2';
import { folderStats, startFakeSftp } from '../parts/fake-sftp.ts';
import { sendRaw, sshMessage } from '../parts/raw-ssh.ts';

test('a server that accepts a sign-in several times gets one channel', async (t) => {
  let channels = 0;
  const connect = (connection: Connection) =>
    void connection.on('session', () => {
      channels += 1;
    });
  const items = await startFakeSftp(
    t,
    (sftp, connection) =>
      sftp.on('LSTAT', (id) => {
        for (let count = 0; count < 5; count += 1) sendRaw(connection, sshMessage(52));
        sftp.attrs(id, folderStats);
      }),
    { connect },
  );
  await items.find(['first']);
  await items.find(['second']); // is sent after the channels that the first answer might have opened
  assert.equal(channels, 1);
});
