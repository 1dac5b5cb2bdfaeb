import { createHash, X509Certificate } from 'node:crypto';
import { fromBER, Null, ObjectIdentifier, OctetString, Sequence, Set as SetOf } from 'asn1js';
import {
  AlgorithmIdentifier,
  Attribute,
  Certificate,
  ContentInfo,
  EncapsulatedContentInfo,
  GeneralName,
  GeneralNames,
  IssuerAndSerialNumber,
  SignedAndUnsignedAttributes,
  SignedData,
  SignerInfo,
} from 'pkijs';
import type { SigningCertificate } from '#ports/signatures.ts';

const oid = {
  data: '1.2.840.113549.1.7.1',
  signedData: '1.2.840.113549.1.7.2',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingCertificateV2: '1.2.840.113549.1.9.16.2.47',
  timeStampToken: '1.2.840.113549.1.9.16.2.14',
  sha256: '2.16.840.1.101.3.4.2.1',
  rsaWithSha256: '1.2.840.113549.1.1.11',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
};
const directoryName = 4; // the choice of GeneralName for a name in X.500 form

/** Copies bytes into a buffer that holds nothing else, as asn1js expects. */
export const exactBuffer = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer;

export const sha256Of = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();

/** Signs the SHA-256 of some bytes. @returns an RSA signature with PKCS #1 v1.5 padding, or an ECDSA signature in DER */
export type SignBytes = (bytes: Uint8Array) => Promise<Uint8Array>;

/** Asks an authority for a time stamp of some bytes. @returns a TimeStampToken (RFC 3161) in DER */
export type TimeStamper = (stamped: Uint8Array) => Promise<Uint8Array>;

const attribute = (type: string, value: unknown) => new Attribute({ type, values: [value] });

/**
 * Returns the value of signing-certificate-v2 (RFC 5035): SHA-256 hash, issuer and serial number. DER omits the hash algorithm, because
 * SHA-256 is the default.
 */
function signingCertificate(der: Uint8Array, { issuer, serialNumber }: Certificate): Sequence {
  const issuerNames = new GeneralNames({ names: [new GeneralName({ type: directoryName, value: issuer })] }).toSchema();
  const issuerSerial = new Sequence({ value: [issuerNames, serialNumber] });
  const id = new Sequence({ value: [new OctetString({ valueHex: exactBuffer(sha256Of(der)) }), issuerSerial] });
  return new Sequence({ value: [new Sequence({ value: [id] })] });
}

/** Returns the signed attributes. PAdES has no signing-time among them: the time stands in the signature's dictionary. */
const signedAttributes = (digest: Uint8Array, der: Uint8Array, certificate: Certificate) => [
  attribute(oid.contentType, new ObjectIdentifier({ value: oid.data })),
  attribute(oid.messageDigest, new OctetString({ valueHex: exactBuffer(digest) })),
  attribute(oid.signingCertificateV2, signingCertificate(der, certificate)),
];

/** Sorts attributes by their encoding, as DER demands of a set. */
function sortAttributes(attributes: readonly Attribute[]): Attribute[] {
  const encoded = attributes.map((value) => ({ value, der: Buffer.from(value.toSchema().toBER()) }));
  return encoded.sort((a, b) => Buffer.compare(a.der, b.der)).map(({ value }) => value);
}

/**
 * Returns a detached CMS signature for `ETSI.CAdES.detached` (ETSI EN 319 142-1), in DER.
 * @param digest SHA-256 of the signed bytes
 * @param sign signs with the private key of the first certificate in `chain`
 * @param timeStamp null: level B-B; else B-T, with a time stamp of the signature's value
 */
export async function cmsSignature(
  digest: Uint8Array,
  chain: SigningCertificate['chain'],
  sign: SignBytes,
  timeStamp: TimeStamper | null,
): Promise<Uint8Array> {
  const certificates = chain.map((base64) => Certificate.fromBER(exactBuffer(Buffer.from(base64, 'base64'))));
  const [own] = certificates;
  if (!own) throw new TypeError('the certificate chain is empty');
  const attributes = sortAttributes(signedAttributes(digest, Buffer.from(chain[0], 'base64'), own));
  const signedBytes = new SetOf({ value: attributes.map((value) => value.toSchema()) }).toBER();
  const isRsa = new X509Certificate(Buffer.from(chain[0], 'base64')).publicKey.asymmetricKeyType === 'rsa';
  const signature = await sign(new Uint8Array(signedBytes));
  const token = timeStamp && fromBER(exactBuffer(await timeStamp(signature))).result;
  const sha256Algorithm = new AlgorithmIdentifier({ algorithmId: oid.sha256 });
  const signer = new SignerInfo({
    version: 1,
    sid: new IssuerAndSerialNumber({ issuer: own.issuer, serialNumber: own.serialNumber }),
    digestAlgorithm: sha256Algorithm,
    signedAttrs: new SignedAndUnsignedAttributes({ type: 0, attributes }),
    signatureAlgorithm: isRsa
      ? new AlgorithmIdentifier({ algorithmId: oid.rsaWithSha256, algorithmParams: new Null() })
      : new AlgorithmIdentifier({ algorithmId: oid.ecdsaWithSha256 }),
    signature: new OctetString({ valueHex: exactBuffer(signature) }),
    ...(token ? { unsignedAttrs: new SignedAndUnsignedAttributes({ type: 1, attributes: [attribute(oid.timeStampToken, token)] }) } : {}),
  });
  const signedData = new SignedData({
    version: 1,
    digestAlgorithms: [sha256Algorithm],
    encapContentInfo: new EncapsulatedContentInfo({ eContentType: oid.data }),
    signerInfos: [signer],
    certificates,
  });
  const content = new ContentInfo({ contentType: oid.signedData, content: signedData.toSchema(true) });
  return new Uint8Array(content.toSchema().toBER());
}
