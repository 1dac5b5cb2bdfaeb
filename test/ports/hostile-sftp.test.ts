import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Connection } from 'ssh2';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { folderStats, startFakeSftp } from '../parts/fake-sftp.ts';
import { limitPacketSize, sendRaw, sendWithoutEnd, sshMessage } from '../parts/raw-ssh.ts';

const isTooMany = (cause: Error) => cause instanceof StorageUnavailable && /too many messages/.test(cause.message);

const hostKeys = sshMessage(80, 'hostkeys-00@openssh.com', 0, sshMessage('ssh-ed25519', Buffer.alloc(32, 1)));

/** Messages of RFC 4252, 4253, 4254 and 8308, and SFTP. The client has one channel, number 0. */
const messages: Readonly<Record<string, Buffer>> = {
  'data to ignore': sshMessage(2, ''),
  'notices of unknown messages': sshMessage(3, [1]),
  'debug texts': sshMessage(4, 1, 'text', ''),
  'lists of extensions': sshMessage(7, [1], 'server-sig-algs', ',,,,'),
  'banners after the sign-in': sshMessage(53, 'text', ''),
  'notices of a successful sign-in': sshMessage(52),
  'checks of the connection': sshMessage(80, 'keepalive@openssh.com', 1),
  'answers to global requests': sshMessage(81),
  'requests to open a channel': sshMessage(90, 'x11', [1], [1], [1], 'address', [1]),
  'changes of the window': sshMessage(93, [0], [1]),
  'empty packets of a channel': sshMessage(94, [0], ''),
  'errors of a channel': sshMessage(95, [0], [1], 'text'),
  'requests for a channel': sshMessage(98, [0], 'keepalive@openssh.com', 1),
  'answers to requests for a channel': sshMessage(99, [0]),
  'messages of unknown types': sshMessage(200),
  'empty messages': Buffer.alloc(0),
  'answers to requests of SFTP that were never sent': sshMessage(94, [0], sshMessage(sshMessage(101, [999], [4], '', ''))),
};

for (const [name, message] of Object.entries(messages))
  test(`a request ends with an error at a server that sends without end: ${name}`, async (t) => {
    const items = await startFakeSftp(t, (sftp, connection) => sftp.on('MKDIR', () => void sendWithoutEnd(connection, message)));
    await assert.rejects(items.createFolder(['folder']), isTooMany); // in contrast to a read, it is not tried again
  });

test('a request ends with an error at a server that lists its host keys a third time', async (t) => {
  const items = await startFakeSftp(t, (sftp, connection) =>
    sftp.on('LSTAT', () => {
      for (let count = 0; count < 3; count += 1) sendRaw(connection, hostKeys);
    }),
  );
  await assert.rejects(items.find(['file']), isTooMany);
});

test('a request ends with an error at a server that exchanges keys without end', async (t) => {
  const items = await startFakeSftp(t, (sftp, connection) =>
    sftp.on('MKDIR', () => {
      const exchangeKeys = () => connection.rekey(exchangeKeys);
      exchangeKeys();
    }),
  );
  await assert.rejects(items.createFolder(['folder']), isTooMany);
});

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
  await items.find(['second']); // is sent after any requests for channels that the first answer caused
  assert.equal(channels, 1);
});

test('a connection ends with an error, and takes little memory, at a server that announces millions of prompts', async (t) => {
  const items = await startFakeSftp(t, () => {}, {
    connect: (connection) =>
      connection.prependListener('authentication', (request) => {
        if (request.method !== 'keyboard-interactive') request.reject(['keyboard-interactive']);
        else sendRaw(connection, sshMessage(60, '', '', '', [(1 << 25) - 1]));
      }),
  });
  const before = process.resourceUsage().maxRSS;
  await assert.rejects(items.find(['file']), /announces prompts/);
  assert.ok(process.resourceUsage().maxRSS - before < 100_000, 'the memory grows by less than 100,000 kilobytes');
});

test('a connection ends with an error at a server that accepts only packets of 0 bytes', async (t) => {
  const items = await startFakeSftp(t, () => {}, { connect: (connection) => limitPacketSize(connection, 0) });
  await assert.rejects(items.find(['file']), isTooMany);
});

test('a long request ends with an error at a server that accepts only packets of one byte', async (t) => {
  const items = await startFakeSftp(t, () => {}, { connect: (connection) => limitPacketSize(connection, 1) });
  await assert.rejects(items.find(['a'.repeat(10_000)]), isTooMany);
});

test('a server may accept only small packets, and send two hundred other messages with each answer', async (t) => {
  const items = await startFakeSftp(
    t,
    (sftp, connection) =>
      sftp.on('LSTAT', (id) => {
        for (let count = 0; count < 200; count += 1) sendRaw(connection, sshMessage(93, [0], [1]));
        sftp.attrs(id, folderStats);
      }),
    { connect: (connection) => limitPacketSize(connection, 16) },
  );
  for (let count = 0; count < 100; count += 1) assert.ok(await items.find(['folder']));
});
