import { createPrivateKey, type KeyObject, sign, verify, X509Certificate } from 'node:crypto';
import forge from 'node-forge';
import { TaskRefused } from '#adapters/documents/sandbox/serve-tasks.ts';
import type { SigningCertificate } from '#ports/signatures.ts';

const { asn1, pkcs12, pki } = forge;
type Pkcs12 = ReturnType<typeof pkcs12.pkcs12FromAsn1>;
type Bag = NonNullable<ReturnType<Pkcs12['getBags']>[string]>[number];

const curves: readonly (string | undefined)[] = ['prime256v1', 'secp384r1', 'secp521r1'];
const [minRsaBits, maxRsaBits] = [2048, 4096];

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

/** Returns the private key of a bag. The library parses RSA keys; others are returned as they are stored. */
function keyOf({ key, asn1: stored }: Bag): KeyObject | null {
  const info = key ? pki.wrapRsaPrivateKey(pki.privateKeyToAsn1(key)) : stored;
  return info ? createPrivateKey({ key: derOf(info), format: 'der', type: 'pkcs8' }) : null;
}

/** Returns the certificate of a bag. */
function certificateOf({ cert, asn1: stored }: Bag): X509Certificate | null {
  const certificate = cert ? pki.certificateToAsn1(cert) : stored;
  return certificate ? new X509Certificate(derOf(certificate)) : null;
}

/** @throws TaskRefused (`algorithm`) */
function checkAlgorithm({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): void {
  const { modulusLength = 0, namedCurve } = asymmetricKeyDetails;
  const isRsa = asymmetricKeyType === 'rsa' && modulusLength >= minRsaBits && modulusLength <= maxRsaBits;
  if (!isRsa && !(asymmetricKeyType === 'ec' && curves.includes(namedCurve))) throw new TaskRefused('algorithm');
}

/** Returns a certificate and those that issued it, as far as they are known. */
function chainOf(own: X509Certificate, certificates: readonly X509Certificate[]): [string, ...string[]] {
  const issuers: X509Certificate[] = [];
  for (let last = own; ; ) {
    const issuer = certificates.find((other) => other !== last && !issuers.includes(other) && other !== own && last.checkIssued(other));
    if (!issuer) break;
    issuers.push(issuer);
    last = issuer;
  }
  return [own.raw.toString('base64'), ...issuers.map(({ raw }) => raw.toString('base64'))];
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
  checkAlgorithm(key);
  const certificates = bagsOf(content, pki.oids['certBag']).flatMap((bag) => certificateOf(bag) ?? []);
  const own = certificates.find((certificate) => certificate.checkPrivateKey(key));
  if (!own) throw new TaskRefused('noCertificate');
  trySignature(key, own);
  return { key: key.export({ format: 'pem', type: 'pkcs8' }), chain: chainOf(own, certificates) };
}
