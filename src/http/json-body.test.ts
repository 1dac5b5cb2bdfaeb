import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { jsonBodies } from './json-body.ts';

const long = Buffer.from(JSON.stringify({ text: 'x'.repeat(1 << 18) }));

test('long bodies from thousands of networks of one site push out nobody else’s, and are not read before it', async () => {
  const read = jsonBodies();
  let done = 0;
  const sendFrom = (ip: string) =>
    new Promise<number>((resolve, reject) => {
      read({ ip, socket: new EventEmitter() }, long, (cause) => (cause ? reject(cause) : resolve(++done)));
    });
  const site = (network: number) => sendFrom(`2001:db8:1:${network.toString(16)}::1`);
  const first = Promise.allSettled(Array.from({ length: 300 }, (_, network) => site(network)));
  const other = sendFrom('198.51.100.1');
  const later = Promise.allSettled(Array.from({ length: 300 }, (_, network) => site(300 + network)));
  assert.ok((await other) < 10, 'it has its turn beside theirs');
  const refused = [...(await first), ...(await later)].filter(({ status }) => status === 'rejected');
  assert.ok(refused.length > 300, `${refused.length} are refused`);
});
