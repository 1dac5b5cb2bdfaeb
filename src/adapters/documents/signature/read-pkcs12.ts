import { createPrivateKey, type KeyObject, sign, verify, X509Certificate } from 'node:crypto';
import forge from 'node-forge';
import { TaskRefused } from '#adapters/documents/sandbox/serve-tasks.ts';
import type { SigningCertificate } from '#ports/signatures.ts';
import { chainOf, isAllowedKey } from './certificate-chain.ts';

const { asn1, pkcs12, pki } = forge;
type Pkcs12 = ReturnType<typeof pkcs12.pkcs12FromAsn1>;
type Bag = NonNullable<ReturnType<Pkcs12['getBags']>[string]>[number];

const derOf = (value: forge.asn1.Asn1) => Buffer.from(asn1.toDer(value).getBytes(), 'latin1');

/** Decrypts a PKCS #12 file. @throws TaskRefused: `format` or `password` */
function decrypt(file: Uint8Array, password: string): Pkcs12 {
  let content: forge.asn1.Asn1;
  try {
    content = asn1.fromDer(Buffer.from(file).toString('latin1'));
  } catch {
    throw new TaskRefused('format');
  }
  try {
    return pkcs12.pkcs12FromAsn1(content, false, password);
  } catch (cause) {
    throw new TaskRefused(cause instanceof Error && /MAC|password|decrypt/i.test(cause.message) ? 'password' : 'format');
  }
}

const bagsOf = (file: Pkcs12, type: string | undefined): readonly Bag[] =>
  type === undefined ? [] : (file.getBags({ bagType: type })[type] ?? []);

/** Returns the private key of a bag. The library parses RSA keys only, and leaves other keys as they are stored. */
function keyOf({ key, asn1: stored }: Bag): KeyObject | null {
  const info = key ? pki.wrapRsaPrivateKey(pki.privateKeyToAsn1(key)) : stored;
  return info ? createPrivateKey({ key: derOf(info), format: 'der', type: 'pkcs8' }) : null;
}

/** Returns the certificate of a bag. */
function certificateOf({ cert, asn1: stored }: Bag): X509Certificate | null {
  const certificate = cert ? pki.certificateToAsn1(cert) : stored;
  return certificate ? new X509Certificate(derOf(certificate)) : null;
}

/** @throws TaskRefused (`algorithm`) if a signature of the key is not valid for its certificate */
function trySignature(key: KeyObject, { publicKey }: X509Certificate): void {
  const text = Buffer.from('test');
  if (!verify('sha256', text, publicKey, sign('sha256', text, key))) throw new TaskRefused('algorithm');
}

/** Reads a PKCS #12 file. @throws TaskRefused: `format`, `password`, `noKey`, `noCertificate` or `algorithm` */
export function readPkcs12(file: Uint8Array, password: string): SigningCertificate {
  const content = decrypt(file, password);
  const keyBags = [...bagsOf(content, pki.oids['pkcs8ShroudedKeyBag']), ...bagsOf(content, pki.oids['keyBag'])];
  const [key] = keyBags.flatMap((bag) => keyOf(bag) ?? []);
  if (!key) throw new TaskRefused('noKey');
  if (!isAllowedKey(key)) throw new TaskRefused('algorithm');
  const certificates = bagsOf(content, pki.oids['certBag']).flatMap((bag) => certificateOf(bag) ?? []);
  const own = certificates.find((certificate) => certificate.checkPrivateKey(key));
  if (!own) throw new TaskRefused('noCertificate');
  trySignature(key, own);
  return { key: { pem: key.export({ format: 'pem', type: 'pkcs8' }) }, chain: chainOf(own, certificates) };
}
