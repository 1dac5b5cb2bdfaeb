import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watermarkText } from './watermark-text.ts';

const ann = { user: 'Ann Lee', email: 'ann@example.com', address: '203.0.113.7', date: '2026-11-29' };
const nobody = { ...ann, user: '', email: '' };

test('a watermark contains data of the visitor, or the date, in place of its known placeholders', () => {
  assert.equal(watermarkText('For {user} ({email}), {ip}, {date}', ann), 'For Ann Lee (ann@example.com), 203.0.113.7, 2026-11-29');
  assert.equal(watermarkText('Draft {unknown}', ann), 'Draft {unknown}');
  assert.equal(watermarkText('{user}', { ...ann, user: '{ip}' }), '{ip}');
});

test('a copy-protected share without a text of its own is marked with visitor, address and date', () => {
  assert.equal(watermarkText('', ann), 'Ann Lee · 203.0.113.7 · 2026-11-29');
  assert.equal(watermarkText('', nobody), '203.0.113.7 · 2026-11-29');
});

test('a watermark is never empty, and is one line of at most 200 characters', () => {
  assert.equal(watermarkText('{user}', nobody), '203.0.113.7');
  assert.equal(watermarkText(' \n\t ', ann), '203.0.113.7');
  assert.equal(watermarkText('a\nb\u0000c', ann), 'a b c');
  assert.equal([...watermarkText('\u{1F4C4}'.repeat(300), ann)].length, 200);
});
