import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPostern } from '../start.ts';

test('a form with thousands of fields is refused before it is parsed', async (t) => {
  const postern = await startPostern(t);
  for (const path of ['/sign-in/saml/999', '/sign-in/oidc/999/logout']) {
    const send = (body: string) =>
      postern.visit(path, { method: 'POST', body, headers: { 'content-type': 'application/x-www-form-urlencoded' } });
    const refusal = await send('a&'.repeat(8000));
    assert.deepEqual([refusal.status, refusal.body.detail], [400, 'The form has more than 20 fields.'], path);
    const otherRefusal = await send('SAMLResponse=x&RelayState=y');
    assert.notEqual(otherRefusal.body.detail, refusal.body.detail, path);
  }
});

test('forms that are refused because of their size do not keep memory that later forms need', async (t) => {
  const postern = await startPostern(t);
  const send = async (body: string) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return (await postern.visit('/sign-in/saml/999', { method: 'POST', body, headers })).status;
  };
  const tooLarge = `SAMLResponse=${'x'.repeat(500_000)}`;
  for (let time = 0; time < 90; time += 1) assert.equal(await send(tooLarge), 413, `form ${time}`);
  assert.equal(await send(`SAMLResponse=${'x'.repeat(10_000)}`), 404, 'no such profile');
});
