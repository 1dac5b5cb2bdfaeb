import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatInstant, parseInstant } from './instant.ts';

const reformat = (text: string, meaning: 'firstOfDay' | 'firstOfNextDay' = 'firstOfDay') => {
  const instant = parseInstant(text, meaning);
  return instant === null ? null : formatInstant(instant);
};

test('a start date without a time means the first instant of that day in UTC', () =>
  assert.equal(reformat('2026-01-31'), '2026-01-31T00:00:00.000Z'));

test('an end date without a time means the first instant of the next day', () => {
  assert.equal(reformat('2026-01-31', 'firstOfNextDay'), '2026-02-01T00:00:00.000Z');
  assert.equal(reformat('2024-02-28', 'firstOfNextDay'), '2024-02-29T00:00:00.000Z');
  assert.equal(reformat('2026-12-31', 'firstOfNextDay'), '2027-01-01T00:00:00.000Z');
});

test('a date with a time means the same instant at the start and at the end of a period', () => {
  for (const text of ['2026-01-31T00:00:00Z', '2026-01-31T09:30Z', '2026-01-31T09:30:15.123+05:30'])
    assert.equal(parseInstant(text, 'firstOfDay'), parseInstant(text, 'firstOfNextDay'));
});

for (const text of [
  '2026-01-31T09:00:00.000Z',
  '2026-01-31T09:00:00Z',
  '2026-01-31T09:00Z',
  '2026-01-31t09:00:00z',
  '2026-01-31T09:00:00,000Z',
  '2026-01-31T10:00:00+01:00',
  '2026-01-31T10:00:00+0100',
  '2026-01-31T10:00:00+01',
  '2026-01-31T14:30:00+05:30',
  '2026-01-30T23:00:00-10:00',
  '2026-01-31T09:00:00-00:00',
  '2026-01-31T09:00:00.000000001Z',
])
  test(`an instant with any offset and precision is accepted: ${text}`, () => assert.equal(reformat(text), '2026-01-31T09:00:00.000Z'));

for (const text of [
  '2026-02-30',
  '2026-02-29',
  '1900-02-29',
  '2026-13-01',
  '2026-00-10',
  '2026-04-31',
  '2026-01-00',
  '2026-02-30T09:00:00Z',
  '2026-01-31T24:00:00Z',
  '2026-01-31T09:60:00Z',
  '2026-01-31T09:00:61Z',
  '2026-01-31T09:00:00+25:00',
  '2026-01-31T09:00:00+01:60',
])
  test(`a date, time or offset that does not exist is refused: ${text}`, () => {
    assert.equal(parseInstant(text, 'firstOfDay'), null);
    assert.equal(parseInstant(text, 'firstOfNextDay'), null);
  });

for (const text of [
  '',
  ' ',
  'today',
  '31.01.2026',
  '01/31/2026',
  '2026-1-31',
  '20260131',
  '1769850000',
  '1769850000000',
  '2026-01',
  '2026-W05',
  '2026-031',
  '2026-01-31T',
  '2026-01-31T9:00Z',
  ' 2026-01-31',
  '2026-01-31\n',
  '2026-01-31T09:00:00Z[UTC]',
  '2026-01-31T09:00:00 +01:00',
  '-002026-01-31',
])
  test(`a text that is not YYYY-MM-DD, alone or with a time, is refused: ${JSON.stringify(text)}`, () =>
    assert.equal(parseInstant(text, 'firstOfDay'), null));

const anyInstant = fc.integer({ min: Date.UTC(1970, 0, 1), max: Date.UTC(9999, 11, 31, 23, 59, 59, 999) });

test('a formatted instant is parsed back as the same instant', () =>
  fc.assert(fc.property(anyInstant, (instant) => assert.equal(parseInstant(formatInstant(instant), 'firstOfDay'), instant))));

test('an instant can be written with any UTC offset', () =>
  fc.assert(
    fc.property(anyInstant, fc.integer({ min: -14 * 60, max: 14 * 60 }), (instant, minutes) => {
      const shifted = new Date(instant + minutes * 60_000);
      if (shifted.getUTCFullYear() > 9999 || shifted.getUTCFullYear() < 1970) return;
      const twoDigits = (number: number) => String(Math.abs(number)).padStart(2, '0');
      const offset = `${minutes < 0 ? '-' : '+'}${twoDigits(Math.trunc(minutes / 60))}:${twoDigits(minutes % 60)}`;
      assert.equal(parseInstant(shifted.toISOString().replace('Z', offset), 'firstOfDay'), instant);
    }),
  ));

test('a date is an entire day: its end is 24 hours after its start', () =>
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Date.UTC(9999, 11, 30) / 86_400_000 }), (day) => {
      const date = formatInstant(day * 86_400_000).slice(0, 10);
      const [first, end] = [parseInstant(date, 'firstOfDay'), parseInstant(date, 'firstOfNextDay')];
      assert.equal(first, day * 86_400_000);
      assert.equal(end, (day + 1) * 86_400_000);
    }),
  ));

// Clients without a value for "never" send the last date that they can write.
for (const text of ['9999-12-31', '9999-12-31T23:59:59-05:00', '0000-01-01T00:00:00+14:00'])
  test(`a date with the year 0000 or 9999 is refused, or its form in RFC 3339 can be sent back: ${text}`, () => {
    for (const day of ['firstOfDay', 'firstOfNextDay'] as const) {
      const formatted = reformat(text, day);
      if (formatted !== null) assert.equal(reformat(formatted), formatted);
    }
  });
