import assert from 'node:assert/strict';
import { type Duplex, duplexPair } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { DirectoryUnavailable } from '#ports/directory.ts';
import { elementAt } from './ber.ts';
import { LdapDirectories } from './ldap-directories.ts';

const directory = {
  tid: 1,
  url: 'ldap://127.0.0.1',
  baseDn: 'dc=test',
  bindDn: 'cn=reader',
  bindPassword: 'secret',
  userFilter: '(uid={username})',
};
const [bindRequest, bindResponse, searchResultDone] = [0x60, 0x61, 0x65];

/** Returns a message with the result code success. */
const success = (id: number, tag: number) => Buffer.from([0x30, 0x0c, 0x02, 0x01, id, tag, 0x07, 0x0a, 0x01, 0x00, 0x04, 0x00, 0x04, 0x00]);

/**
 * Opens a fake directory.
 * @param answerSearch sends the response to a search
 * @returns a client for it, and the server side of each connection
 */
function openFake(t: TestContext, answerSearch: (server: Duplex, id: number) => void) {
  const connections: Duplex[] = [];
  const connect = async () => {
    const [socket, server] = duplexPair();
    connections.push(server);
    server.on('data', (message: Buffer) => {
      const content = elementAt(message, 0)?.content ?? Buffer.alloc(0);
      const [id = 0, tag] = [content[2], content[3]]; // after the tag and the length of the message id
      if (tag === bindRequest) server.write(success(id, bindResponse));
      else answerSearch(server, id);
    });
    return { socket, address: '127.0.0.1' };
  };
  const directories = new LdapDirectories({ connect }, { now: Date.now, monotonic: () => 1000 });
  t.after(() => directories[Symbol.asyncDispose]());
  return { directories, connections };
}

test('if a directory sends too much, the error says so', async (t) => {
  const { directories } = openFake(t, (server) => server.write(Buffer.from([0x30, 0x84, 0x0f, 0, 0, 0])));
  await assert.rejects(directories.find(directory, 'ann'), { name: 'Error', message: 'The directory sent too long a message.' });
});

test('after a directory stops responding on an open connection, it gets no requests for a few seconds', async (t) => {
  const hanging = Promise.withResolvers<void>();
  let searchCount = 0;
  const { directories, connections } = openFake(t, (server, id) => {
    searchCount += 1;
    if (searchCount === 1) server.write(success(id, searchResultDone));
    else hanging.resolve();
  });
  await directories.find(directory, 'ann');
  const deadline = new AbortController();
  t.mock.method(AbortSignal, 'timeout', () => deadline.signal);
  const refused = assert.rejects(directories.find(directory, 'ann'), DirectoryUnavailable);
  await hanging.promise;
  deadline.abort();
  await refused;
  await assert.rejects(directories.find(directory, 'bob'), DirectoryUnavailable);
  assert.deepEqual([connections.length, searchCount], [1, 2]);
});
