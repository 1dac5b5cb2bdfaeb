import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { Refusal } from '#core/messages.ts';
import { jsonBodyParser } from './json-body.ts';

const longBody = Buffer.from(JSON.stringify({ text: 'x'.repeat(1 << 18) }));

test('long bodies from hundreds of networks of one site do not cause a body from another site to be refused, or to wait for all of them', async (t) => {
  const timer = setInterval(() => {}, 1000); // keeps the process alive during the pauses between turns
  t.after(() => clearInterval(timer));
  const readBody = jsonBodyParser();
  let completed = 0;
  const sendFrom = (ip: string) =>
    new Promise<number>((resolve, reject) => {
      readBody({ ip, socket: new EventEmitter() }, longBody, (cause) => (cause ? reject(cause) : resolve(++completed)));
    });
  const sendFromSite = (network: number) => sendFrom(`2001:db8:1:${network.toString(16)}::1`);
  const first = Promise.allSettled(Array.from({ length: 300 }, (_, network) => sendFromSite(network)));
  const other = sendFrom('198.51.100.1');
  const later = Promise.allSettled(Array.from({ length: 300 }, (_, network) => sendFromSite(300 + network)));
  assert.ok((await other) < 10, 'the body from another site does not wait for all bodies of the first site');
  const refusals = [...(await first), ...(await later)].filter(({ status }) => status === 'rejected');
  assert.ok(refusals.length > 300, `${refusals.length} are refused`);
});

test('a body with the field __proto__ is refused, even if characters of the name are escaped', () => {
  const readBody = jsonBodyParser();
  for (const name of ['__proto__', '\\u005f_proto__', '__\\u0070roto__', '__pr\\u006Fto__']) {
    let refusal: unknown;
    readBody({ ip: '192.0.2.1', socket: new EventEmitter() }, Buffer.from(`{"share":{"${name}":{}}}`), (cause) => {
      refusal = cause;
    });
    assert.ok(refusal instanceof Refusal && refusal.messageName === 'fieldInvalid', name);
  }
});
