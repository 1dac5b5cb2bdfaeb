import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rootCertificates } from 'node:tls';
import { readMetadata } from './read-metadata.ts';

const [pem = ''] = rootCertificates;

function metadataWith(location: string): string {
  const certificate = pem.replace(/-----.*-----|\s/g, '');
  return `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example">
    <IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><KeyDescriptor>
      <KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${certificate}</X509Certificate></X509Data></KeyInfo>
    </KeyDescriptor>
    <SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${location}"/></IDPSSODescriptor>
  </EntityDescriptor>`;
}

test('metadata is read, and refused if its cached description would take too much memory', () => {
  const read = (location: string) => readMetadata({ xml: metadataWith(location), entityId: null, now: Date.now() });
  const { entityId, entryPoint, certificates } = read('https://idp.example/sso');
  assert.deepEqual([entityId, entryPoint, certificates.length], ['https://idp.example', 'https://idp.example/sso', 1]);
  assert.throws(() => read(`https://idp.example/${'x'.repeat(200_000)}`), /too long/);
});

test('metadata with comments is read, and a comment without an end is refused in a time proportional to its length', () => {
  const read = (xml: string) => readMetadata({ xml, entityId: null, now: Date.now() });
  assert.equal(read(`<!-- a -->${metadataWith('https://idp.example/sso')}<!-- b --><!---->`).entityId, 'https://idp.example');
  assert.throws(() => read('<!--'.repeat(260_000)), /a comment without an end/); // in quadratic time it would take a minute
});

test('XML that declares many prefixes is refused before it is parsed', () => {
  const declarations = Array.from({ length: 60 }, (_, index) => `xmlns:p${index}="urn:p"`).join(' ');
  const xml = metadataWith('https://idp.example/sso').replace('<IDPSSODescriptor ', `<IDPSSODescriptor ${declarations} `);
  assert.throws(() => readMetadata({ xml, entityId: null, now: Date.now() }), /too many prefixes/);
});
