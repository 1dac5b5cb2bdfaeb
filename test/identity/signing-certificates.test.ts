import assert from 'node:assert/strict';
import { sign } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { signingCertificates } from '#adapters/identity/saml/signing-certificates.ts';
import { canonicalXml, type DomNode, parseDocument } from '#adapters/identity/saml/xml-libraries.ts';
import { createCertificate } from '../parts/certificate.ts';
import { isInstalled } from '../parts/is-installed.ts';
import { temporaryFolder } from '../start.ts';

const missing = !isInstalled('openssl');
const dsig = 'http://www.w3.org/2000/09/xmldsig#';
const signedInfoOf = (digest: string) =>
  `<d:SignedInfo><d:CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/><d:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/><d:Reference URI="#a"><d:DigestValue>${digest}</d:DigestValue></d:Reference></d:SignedInfo>`;
const responseOf = (digest: string, value: string) =>
  `<p:Response xmlns:p="urn:p" xmlns:d="${dsig}"><d:Signature>${signedInfoOf(digest)}<d:SignatureValue>${value}</d:SignatureValue></d:Signature></p:Response>`;

const parse = (xml: string) => parseDocument(xml, (problem) => assert.fail(problem));
const signersOf = (xml: string, certificates: readonly string[]) => signingCertificates(parse(xml), certificates);

/** Returns a response whose SignedInfo is signed. @param key in PEM */
function signedResponse(key: string): string {
  const document = parse(responseOf('AAAA', ''));
  const signature = Array.from(document.childNodes)[0]?.childNodes[0];
  const signedInfo: DomNode | undefined = signature?.childNodes[0];
  assert.ok(signedInfo);
  return responseOf('AAAA', sign('sha256', Buffer.from(canonicalXml(signedInfo)), key).toString('base64'));
}

test('only the certificates that verify a SAML response are returned, and a response that none of them verifies is refused', {
  skip: missing && 'openssl is not installed',
}, async (t) => {
  const folder = await temporaryFolder(t);
  const [ours, others] = ['ours', 'others'].map((name) => {
    mkdirSync(join(folder, name));
    return createCertificate(join(folder, name));
  });
  assert.ok(ours && others);
  const response = signedResponse(ours.key);
  assert.deepEqual(signersOf(response, [others.cert, ours.cert]), [ours.cert]);
  const noSigner = /not valid for any certificate/;
  assert.throws(() => signersOf(response, [others.cert, 'no certificate']), noSigner);
  assert.throws(() => signersOf(response.replace('AAAA', 'AAAB'), [ours.cert]), noSigner);
  assert.throws(() => signersOf(response.replace('</d:SignedInfo>', '</d:SignedInfo><d:SignedInfo/>'), [ours.cert]), /exactly one/);
});
