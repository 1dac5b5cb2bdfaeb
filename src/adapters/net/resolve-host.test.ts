import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { hostResolver } from './resolve-host.ts';
import { unreachable } from './unreachable.ts';

const [addressType, nameError] = [1, 3];

/** Returns the name that a DNS query asks for, and its type. */
function questionOf(query: Buffer) {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.subarray(at + 1, at + 1 + length).toString());
    at += 1 + length;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/**
 * Starts a fake name server, and returns a resolver that uses it. The server knows `known.test` and `half.test`. It does not answer for
 * names in `silent.test`, or for the IPv6 addresses of `half.test`, which has no IPv4 address. It knows no other name.
 */
async function startNameServer(t: TestContext) {
  const server = createSocket('udp4');
  server.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query);
    if (name.endsWith('silent.test') || (name === 'half.test' && type !== addressType)) return;
    const isKnown = name === 'known.test' || name === 'half.test';
    const answer = name === 'known.test' && type === addressType ? Buffer.from('c00c00010001000000000004c0000201', 'hex') : Buffer.alloc(0);
    const response = Buffer.concat([query.subarray(0, end), answer]);
    response.writeUInt16BE(0x8180 + (isKnown ? 0 : nameError), 2);
    response.writeUInt16BE(answer.length > 0 ? 1 : 0, 6);
    response.fill(0, 8, 12);
    server.send(response, port, address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const folder = await mkdtemp(join(tmpdir(), 'postern-hosts-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(
    join(folder, 'hosts'),
    '127.0.0.1 localhost\n# 10.0.0.1 known.test\n10.0.0.2 other.lan Local.Test # ours\nfd00::2 local.test\n',
  );
  const lookedUpNames: string[] = [];
  const gate = Promise.withResolvers<readonly string[]>();
  const resolve = hostResolver({
    hostsFile: join(folder, 'hosts'),
    newResolver() {
      const resolver = new Resolver({ timeout: 200, tries: 1 });
      resolver.setServers([`127.0.0.1:${server.address().port}`]);
      return resolver;
    },
    lookUp(host) {
      lookedUpNames.push(host);
      return host.startsWith('slow') ? gate.promise : Promise.resolve(['10.0.0.3']);
    },
  });
  return { resolve, lookedUpNames, release: () => gate.resolve([]) };
}

test('a name is looked up in the hosts file first, and then at the name server', async (t) => {
  const { resolve, lookedUpNames } = await startNameServer(t);
  assert.deepEqual(await resolve('local.test'), ['10.0.0.2', 'fd00::2']);
  assert.deepEqual(await resolve('known.test'), ['192.0.2.1']);
  assert.deepEqual(lookedUpNames, []);
});

test('of the names unknown to the name server, the operating system looks up at most four at a time, and further ones are not found', async (t) => {
  const { resolve, lookedUpNames, release } = await startNameServer(t);
  assert.deepEqual(await resolve('short'), ['10.0.0.3']);
  const slow = Array.from({ length: 8 }, (_, number) => resolve(`slow${number}`).catch(({ code }) => code));
  while (lookedUpNames.length < 5) await new Promise(setImmediate);
  assert.equal(await resolve('short').catch(({ code }) => code), 'ENOTFOUND');
  release();
  const results = await Promise.all(slow);
  assert.equal(results.filter((result) => result === 'ENOTFOUND').length, 4);
  assert.deepEqual(await resolve('short'), ['10.0.0.3']);
});

test('names whose server does not respond delay no other name', async (t) => {
  const { resolve, lookedUpNames } = await startNameServer(t);
  const silent = Array.from({ length: 100 }, (_, number) =>
    resolve(`${number}.silent.test`).catch((cause: unknown) => unreachable('it', cause).message),
  );
  assert.deepEqual(await resolve('known.test'), ['192.0.2.1']);
  assert.deepEqual(
    new Set(await Promise.all(silent)),
    new Set(['it cannot be reached: the name server does not respond, or reports an error']),
  );
  assert.deepEqual(lookedUpNames, []);
});

test('if the name server reports no IPv4 address and does not answer for IPv6, the operating system does not look the name up', async (t) => {
  const { resolve, lookedUpNames } = await startNameServer(t);
  await assert.rejects(resolve('half.test'), (cause) =>
    /the name server does not respond, or reports an error$/.test(unreachable('it', cause).message),
  );
  assert.deepEqual(lookedUpNames, []);
});
