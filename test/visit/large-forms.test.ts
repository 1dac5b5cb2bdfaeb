import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPostern } from '../start.ts';

test('a form of thousands of fields is refused before it is parsed, which would take seconds', async (t) => {
  const postern = await startPostern(t);
  for (const path of ['/sign-in/saml/999', '/sign-in/oidc/999/logout']) {
    const send = (body: string) =>
      postern.visit(path, { method: 'POST', body, headers: { 'content-type': 'application/x-www-form-urlencoded' } });
    const refused = await send('a&'.repeat(8000));
    assert.deepEqual([refused.status, refused.body.detail], [400, 'A form has at most 20 fields here.'], path);
    const unknown = await send('SAMLResponse=x&RelayState=y');
    assert.notEqual(unknown.body.detail, refused.body.detail, path);
  }
});
