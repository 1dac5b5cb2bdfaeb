import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { narrowNetworkOf, wideNetworkOf } from '../client-networks.ts';
import { inRanges, packRangeText, parseRanges } from './address-range.ts';

function admits(list: string, address: string): boolean {
  return inRanges(packRangeText(list), address);
}
const invalidEntryOf = (list: string) => {
  const ranges = parseRanges(list);
  return 'invalidEntry' in ranges ? ranges.invalidEntry : null;
};

test('an empty list of addresses allows every address', () => {
  for (const list of ['', '  ', ' , ,\n']) assert.ok(admits(list, '203.0.113.9') && admits(list, '2001:db8::1'));
});

test('a list may mix addresses, blocks and ranges, separated by commas or white space', () => {
  const list = '192.0.2.1,198.51.100.0/24\n203.0.113.5-203.0.113.9 ,\t2001:db8::/32,2001:dead::1-2001:dead::f';
  for (const inside of ['192.0.2.1', '198.51.100.0', '198.51.100.255', '203.0.113.5', '203.0.113.9', '2001:db8:ffff::', '2001:dead::a'])
    assert.ok(admits(list, inside), inside);
  for (const outside of ['192.0.2.2', '198.51.101.0', '203.0.113.4', '203.0.113.10', '2001:db9::', '2001:dead::10', '::1'])
    assert.ok(!admits(list, outside), outside);
});

for (const list of [
  '010.0.0.1',
  '10.0.0.01',
  '10.0.0.0/08',
  '10.00.0.0/8',
  '10.0.0.1-10.0.0.09',
  '::ffff:010.0.0.1',
  '::ffff:10.0.0.01',
  '::/064',
])
  test(`leading zeros are refused: ${list}`, () => assert.equal(invalidEntryOf(list), list));

for (const list of ['10.0.0.9-10.0.0.1', '2001:db8::2-2001:db8::1', '::1-10.0.0.1', '10.0.0.1-::1'])
  test(`a range is refused if it runs backwards or mixes IPv4 and IPv6: ${list}`, () => assert.equal(invalidEntryOf(list), list));

for (const list of [
  '10.0.0.0/33',
  '10.0.0.0/99999',
  '::/129',
  '::ffff:10.0.0.0/129',
  '10.0.0.0/-1',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  '10.0.0.0/0x8',
  '10.0.0.0/8.0',
])
  test(`a prefix is refused if it is too long or not a number: ${list}`, () => assert.equal(invalidEntryOf(list), list));

for (const list of [
  '10.1',
  '167772161',
  '0x0a000001',
  '256.0.0.1',
  '10.0.0',
  '10.0.0.1.',
  'localhost',
  'fe80::1%eth0',
  ':',
  '1::2::3',
  '*',
  '10.0.0.*',
  '-',
  '10.0.0.1-',
  '-10.0.0.1',
  '[::1]',
])
  test(`an invalid entry, or one that other programs may interpret differently, is refused: ${list}`, () =>
    assert.equal(invalidEntryOf(list), list));

test('the first invalid entry of a list is returned', () => assert.equal(invalidEntryOf('10.0.0.1, 10.0.0.300, nowhere'), '10.0.0.300'));

test('bits after the prefix of a block are ignored', () => {
  assert.deepEqual(parseRanges('10.1.2.3/8'), parseRanges('10.0.0.0/8'));
  assert.deepEqual(parseRanges('2001:db8::dead/33'), parseRanges('2001:db8::/33'));
});

test('an IPv4-mapped IPv6 address is equal to the IPv4 address, in the list and for the visitor', () => {
  assert.ok(admits('10.0.0.1', '::ffff:10.0.0.1'));
  assert.ok(admits('::ffff:10.0.0.1', '10.0.0.1'));
  assert.ok(admits('::ffff:a00:1', '10.0.0.1'));
  assert.ok(admits('::FFFF:10.0.0.0/104', '10.255.0.1'));
  assert.ok(!admits('::ffff:10.0.0.0/104', '11.0.0.1'));
  assert.ok(admits('::ffff:10.0.0.1-::ffff:10.0.0.9', '10.0.0.5'));
});

test('an IPv6 block admits no IPv4 visitor, and an IPv4 block admits no IPv6 visitor', () => {
  assert.ok(!admits('::/0', '10.0.0.1'));
  assert.ok(!admits('::/0', '::ffff:10.0.0.1'));
  assert.ok(!admits('0.0.0.0/0', '::1'));
});

test('a visitor with an invalid address is outside of every list', () => {
  for (const address of ['', 'unknown', '10.1', '010.0.0.1']) assert.ok(!admits('0.0.0.0/0 ::/0', address));
});

const formatV4 = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
const anyV4 = fc.integer({ min: 0, max: 0xffffffff });

test('an IPv4 block admits the addresses with its prefix, and no others', () =>
  fc.assert(
    fc.property(anyV4, anyV4, fc.integer({ min: 0, max: 32 }), fc.boolean(), (network, other, bits, near) => {
      // Half of the visitors differ from the network in one bit only, because nearly all random addresses are outside.
      const visitor = near ? (network ^ (1 << (other % 32))) >>> 0 : other;
      const prefix = (value: number) => (bits === 0 ? 0 : value >>> (32 - bits));
      assert.equal(admits(`${formatV4(network)}/${bits}`, formatV4(visitor)), prefix(network) === prefix(visitor));
    }),
    { numRuns: 1000 },
  ));

test('an IPv4 range admits its first address, its last address and all between them', () =>
  fc.assert(
    fc.property(anyV4, anyV4, anyV4, (a, b, visitor) => {
      const [first, last] = [Math.min(a, b), Math.max(a, b)];
      const list = `${formatV4(first)}-${formatV4(last)}`;
      assert.ok(admits(list, formatV4(first)) && admits(list, formatV4(last)));
      assert.equal(admits(list, formatV4(visitor)), first <= visitor && visitor <= last);
    }),
  ));

const formatV6 = (value: bigint) => [...value.toString(16).padStart(32, '0').matchAll(/.{4}/g)].join(':');
const anyV6 = fc.bigInt({ min: 1n << 64n, max: (1n << 128n) - 1n });

test('an IPv6 block admits the addresses with its prefix, and no others', () =>
  fc.assert(
    fc.property(anyV6, fc.integer({ min: 0, max: 127 }), fc.integer({ min: 0, max: 128 }), (network, flippedBit, bits) => {
      const visitor = network ^ (1n << BigInt(flippedBit));
      if (visitor < 1n << 64n) return;
      const prefix = (value: bigint) => value >> BigInt(128 - bits);
      assert.equal(admits(`${formatV6(network)}/${bits}`, formatV6(visitor)), prefix(network) === prefix(visitor));
    }),
    { numRuns: 1000 },
  ));

const anySmall = fc.integer({ min: 0, max: 40 });
const anyList = fc.array(fc.record({ from: anySmall, length: fc.integer({ min: 0, max: 6 }), v6: fc.boolean() }), { maxLength: 12 });

test('ranges may be in any order and may contain each other, and each admits its own addresses', () =>
  fc.assert(
    fc.property(anyList, anySmall, fc.boolean(), (ranges, address, v6) => {
      const format = (isV6: boolean, value: number) => (isV6 ? `2001:db8::${value.toString(16)}` : `10.0.0.${value}`);
      const list = ranges.map((range) => `${format(range.v6, range.from)}-${format(range.v6, range.from + range.length)}`).join();
      const isWithin = ranges.some((range) => range.v6 === v6 && range.from <= address && address <= range.from + range.length);
      assert.equal(admits(list, format(v6, address)), ranges.length === 0 || isWithin, list);
    }),
    { numRuns: 1000 },
  ));

test('overlapping ranges are packed as one range', () => {
  assert.equal(packRangeText('10.0.0.0/8, 10.1.0.0/16, 10.2.3.4, ::1, ::1'), packRangeText('10.0.0.0/8 ::1'));
  assert.equal(packRangeText(' , '), '');
});

test('for every text, the parser returns ranges or names an invalid entry of the text', () =>
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0129af:./-, %x') }), (list) => {
      const entry = invalidEntryOf(list);
      assert.ok(entry === null || (entry !== '' && list.includes(entry)));
    }),
    { numRuns: 2000 },
  ));

test('addresses have the same network key only if they are in the same network', () => {
  assert.equal(wideNetworkOf('198.51.100.1'), wideNetworkOf('198.51.100.200'));
  assert.notEqual(narrowNetworkOf('198.51.100.1'), narrowNetworkOf('198.51.100.2'));
  assert.equal(narrowNetworkOf('2001:db8::1'), narrowNetworkOf('2001:db8::ffff:1'));
  assert.notEqual(narrowNetworkOf('2001:db8::1'), narrowNetworkOf('2001:db8:0:1::1'));
  assert.equal(narrowNetworkOf('::ffff:198.51.100.1'), narrowNetworkOf('198.51.100.1'));
});

test('an IPv4 network and an IPv6 network never have the same key', () =>
  fc.assert(
    fc.property(anyV4, anyV6, (v4, v6) => {
      assert.notEqual(narrowNetworkOf(formatV4(v4)), narrowNetworkOf(formatV6(v6)));
      assert.notEqual(wideNetworkOf(formatV4(v4)), wideNetworkOf(formatV6(v6)));
    }),
  ));
