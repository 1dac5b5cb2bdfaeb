import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailDomain, mailHost, type RunningMail, SlowMails } from '../../src/features/mail/slow-mails.ts';

const concurrency = 5;
const turn = (tid: number, name: string): RunningMail => ({ tid, turn: name, host: null });

/** Begins to send a mail, and then counts it as slow. @returns false if there are too many slow mails */
function addSlow(mails: SlowMails, mail: RunningMail): boolean {
  mails.begin(mail);
  return mails.beginSlow(mail);
}

const crowded = (mails: SlowMails) => {
  const { tenants, turns } = mails.crowded();
  return { tenants: [...tenants].sort(), turns: [...turns].sort() };
};

test('while three of the mails that share a turn are slow, no further one of them is sent, but other mails of the tenant are sent', () => {
  const mails = new SlowMails(concurrency);
  for (let count = 0; count < 3; count += 1) {
    assert.deepEqual(crowded(mails), { tenants: [], turns: [] });
    assert.ok(addSlow(mails, turn(1, 'a')));
  }
  assert.deepEqual(crowded(mails), { tenants: [], turns: ['1 a'] });
  mails.endSlow(turn(1, 'a'));
  assert.deepEqual(crowded(mails), { tenants: [], turns: [] });
});

test('while eight mails of a tenant are slow, no further mail of the tenant is sent, even if no two of the eight share a turn', () => {
  const mails = new SlowMails(concurrency);
  for (let count = 0; count < 8; count += 1) addSlow(mails, turn(1, `turn ${count}`));
  assert.deepEqual(crowded(mails), { tenants: [1], turns: [] });
});

test('at most twenty slow mails of all tenants are sent in addition to the usual number of mails', () => {
  const mails = new SlowMails(concurrency);
  const results = Array.from({ length: 22 }, (_, tid) => addSlow(mails, turn(tid, 'a')));
  assert.deepEqual(results.indexOf(false), 20);
});

test('after a slow mail, the mails that share its turn leave two workers to other mails, and the mails of its tenant leave one to other tenants', () => {
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

test('a host with three slow mails gets no further mail of any tenant, but other hosts do', () => {
  const mails = new SlowMails(concurrency);
  const slow = Array.from({ length: 3 }, (_, index) => turn(index, `turn ${index}`));
  for (const mail of slow) {
    assert.ok(mails.beginHost(mail, 'slow.example'));
    addSlow(mails, mail);
  }
  assert.equal(mails.beginHost(turn(9, 'nine'), 'slow.example'), false);
  assert.ok(mails.beginHost(turn(9, 'nine'), 'good.example'));
  for (const mail of slow.slice(0, 1)) {
    mails.endHost(mail);
    mails.endSlow(mail);
  }
  assert.ok(mails.beginHost(turn(9, 'nine'), 'slow.example'));
});

test('six slow mails to subdomains delay mails to other subdomains, but not to the domain itself or to a subdomain that was fast', () => {
  const mails = new SlowMails(concurrency);
  const fast = turn(0, 'fast');
  assert.ok(mails.beginHost(fast, 'fast.good.example'));
  mails.measure(fast, 100);
  mails.endHost(fast);
  for (let index = 0; index < 6; index += 1) {
    const mail = turn(index, `turn ${index}`);
    assert.ok(mails.beginHost(mail, `slow${index}.good.example`));
    addSlow(mails, mail);
  }
  const hosts = ['new.good.example', 'fast.good.example', 'good.example', 'other.example'];
  assert.deepEqual(
    hosts.map((host) => mails.beginHost(turn(9, 'nine'), host)),
    [false, true, true, true],
  );
});

test('the domain of a host is the host without its subdomains', () => {
  const addresses = ['a@example.com', 'a@mail.Example.com', 'a@mail.example.co.uk', 'a@example.co.uk', 'a@localhost'];
  assert.deepEqual(
    addresses.map((address) => mailDomain(mailHost(address))),
    ['example.com', 'example.com', 'example.co.uk', 'example.co.uk', 'localhost'],
  );
});

test('the subdomains of a short domain such as gmx.de or ibm.com have the same domain', () => {
  const hosts = ['gmx.de', 's1.gmx.de', 's2.gmx.de', 's1.ibm.com', 's2.ibm.com', 's1.co.com', 's1.t.co'];
  assert.deepEqual(hosts.map(mailDomain), ['gmx.de', 'gmx.de', 'gmx.de', 'ibm.com', 'ibm.com', 'co.com', 't.co']);
});
