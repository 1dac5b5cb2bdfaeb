import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlowMails } from '../../src/features/mail/slow-mails.ts';

const concurrency = 5;
const turn = (tid: number, name: string) => ({ tid, turn: name });

/** Adds a mail that a worker was sending, and that is slow. @returns whether it was added */
function addSlow(mails: SlowMails, mail: { readonly tid: number; readonly turn: string }): boolean {
  mails.begin(mail);
  return mails.add(mail);
}

const crowded = (mails: SlowMails) => {
  const { tenants, turns } = mails.crowded();
  return { tenants: [...tenants].sort(), turns: [...turns].sort() };
};

test('a turn with three slow mails gets no further mail sent, and its tenant does', () => {
  const mails = new SlowMails(concurrency);
  for (let count = 0; count < 3; count += 1) {
    assert.deepEqual(crowded(mails), { tenants: [], turns: [] });
    assert.ok(addSlow(mails, turn(1, 'a')));
  }
  assert.deepEqual(crowded(mails), { tenants: [], turns: ['1 a'] });
  mails.remove(turn(1, 'a'));
  assert.deepEqual(crowded(mails), { tenants: [], turns: [] });
});

test('a tenant with eight slow mails of different turns gets no further mail sent', () => {
  const mails = new SlowMails(concurrency);
  for (let count = 0; count < 8; count += 1) addSlow(mails, turn(1, `turn ${count}`));
  assert.deepEqual(crowded(mails), { tenants: [1], turns: [] });
});

test('twenty slow mails are sent in addition, of all tenants together', () => {
  const mails = new SlowMails(concurrency);
  const added = Array.from({ length: 22 }, (_, tid) => addSlow(mails, turn(tid, 'a')));
  assert.deepEqual(added.indexOf(false), 20);
});

test('turns whose last mail was slow leave two workers to other turns, and one to other tenants', () => {
  const mails = new SlowMails(concurrency);
  for (let count = 0; count < 3; count += 1) mails.begin(turn(1, 'a'));
  mails.measure(turn(1, 'a'), 1500);
  assert.deepEqual(crowded(mails), { tenants: [], turns: ['1 a'] });
  mails.begin(turn(1, 'b'));
  assert.deepEqual(crowded(mails), { tenants: [1], turns: ['1 a'] });
  mails.end(turn(1, 'b'));
  mails.measure(turn(1, 'a'), 100);
  assert.deepEqual(crowded(mails), { tenants: [], turns: [] });
});
