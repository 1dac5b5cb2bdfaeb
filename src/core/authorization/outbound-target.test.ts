import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packRangeText } from './address-range.ts';
import { isAllowedTarget } from './outbound-target.ts';

const refusedAddresses = [
  '127.0.0.1',
  '127.8.8.8',
  '0.0.0.0',
  '10.1.2.3',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '169.254.169.254',
  '192.0.0.8',
  '192.0.2.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::101:101',
  '::2',
  '5f00::1',
  '2002:7f00:1::',
  '2001::1',
  'fe80::1',
  'fc00::1',
  'fd12:3456::1',
  'ff02::1',
  '2001:db8::1',
  'localhost',
  '0177.0.0.1',
  '',
];
const allowedAddresses = ['1.1.1.1', '93.184.216.34', '172.32.0.1', '2606:4700::1111', '::ffff:1.1.1.1', '64:ff9b::101:101'];

test('a tenant can reach public addresses, but no private, local or reserved address', () => {
  assert.deepEqual(
    refusedAddresses.filter((address) => isAllowedTarget(address, '')),
    [],
  );
  assert.deepEqual(
    allowedAddresses.filter((address) => !isAllowedTarget(address, '')),
    [],
  );
});

test('a tenant can reach a private network that the operator has allowed, but no other one', () => {
  const targets = packRangeText('10.1.0.0/16, ::1');
  assert.ok(isAllowedTarget('10.1.2.3', targets));
  assert.ok(isAllowedTarget('::1', targets));
  assert.ok(!isAllowedTarget('10.2.0.1', targets));
  assert.ok(!isAllowedTarget('127.0.0.1', targets));
  assert.ok(isAllowedTarget('1.1.1.1', targets));
});
