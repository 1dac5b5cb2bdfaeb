import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { messagesPage, settingsPage } from '../../scripts/docs-pages.ts';

const read = (page: string) => readFileSync(join(import.meta.dirname, '../../docs', page), 'utf8');

test('the documentation lists every message that Postern can send, and no other', () => {
  assert.equal(read('integrator/messages.md'), messagesPage());
});

test('the documentation lists every setting, and no other', () => {
  assert.equal(read('operator/settings.md'), settingsPage());
});
