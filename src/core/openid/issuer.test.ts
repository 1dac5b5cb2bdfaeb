import assert from 'node:assert/strict';
import { test } from 'node:test';
import { issuerProblem } from './issuer.ts';

test('the address of an issuer begins with https://, or with http:// on this machine', () => {
  for (const issuer of ['https://login.example.com', 'http://localhost:8080', 'http://127.0.0.1/realm'])
    assert.equal(issuerProblem(issuer), null, issuer);
  for (const issuer of ['http://login.example.com', 'ftp://localhost', 'file://localhost/etc'])
    assert.match(issuerProblem(issuer) ?? '', /must begin with https/, issuer);
});
