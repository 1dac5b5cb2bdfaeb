import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trustedProxyCheck, withoutPorts } from './forwarded.ts';

test('the port of a forwarded address is removed', () => {
  assert.equal(withoutPorts('203.0.113.7:52100'), '203.0.113.7');
  assert.equal(withoutPorts('[2001:db8::1]:52100, 203.0.113.7:1'), '2001:db8::1, 203.0.113.7');
  assert.equal(withoutPorts('[2001:db8::1]'), '2001:db8::1');
  for (const plain of ['203.0.113.7', '2001:db8::1', '203.0.113.7, 10.0.0.1', 'unknown', '']) assert.equal(withoutPorts(plain), plain);
});

test('trusted proxies are addresses, blocks and first-last ranges', () => {
  const isTrusted = trustedProxyCheck(['10.0.0.1-10.0.0.9', '192.0.2.0/24', '::1']);
  for (const address of ['10.0.0.1', '10.0.0.9', '::ffff:10.0.0.5', '192.0.2.200', '::1']) assert.ok(isTrusted?.(address), address);
  for (const address of ['10.0.0.10', '192.0.3.1', '::2', 'proxy', '']) assert.ok(!isTrusted?.(address), address);
  assert.equal(trustedProxyCheck([]), undefined);
});

test('of more than a thousand forwarded addresses, only the last ones are read, because trusted proxies add theirs at the end', () => {
  const last = withoutPorts(`${'198.51.100.1,'.repeat(1100)}203.0.113.7:52100, 10.0.0.1`).split(/, */);
  assert.deepEqual(last.slice(-2), ['203.0.113.7', '10.0.0.1']);
  assert.ok(last.length < 100 && last.slice(0, -2).every((address) => address === '198.51.100.1'));
});

test('a connection that has no address after a reset is not treated as a trusted proxy', () => {
  assert.equal(trustedProxyCheck(['10.0.0.1'])?.(undefined), false);
});
