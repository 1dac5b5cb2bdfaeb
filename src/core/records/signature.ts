import Type, { type Static } from 'typebox';
import { bodyOf, instant, limits, lineOf, orNull } from './field.ts';
import { secretMask } from './login-profile.ts';

const maxUrl = 2048; // characters
const maxKeyId = 64; // hexadecimal digits

/** All fields of the certificate with which a tenant signs PDF files. */
export const signatureFields = {
  subject: lineOf(limits.text, { description: 'Whom the certificate names.' }),
  issuer: lineOf(limits.text, { description: 'Who has issued the certificate.' }),
  serialNumber: lineOf(limits.name, { description: 'Serial number of the certificate, hexadecimal.' }),
  validFrom: instant('When the certificate becomes valid.'),
  validTo: instant('When the certificate expires. Afterwards, PDF files that must be signed cannot be downloaded.'),
  certificate: Type.String({
    maxLength: limits.configuration,
    description: `A PKCS #12 file (.p12 or .pfx) in base64, with the certificate, its private key and the certificates of its issuers. RSA keys of 2048 to 4096 bits, and keys of the curves P-256, P-384 and P-521. Responses contain ${secretMask} instead of this field and of \`password\`; if you send both back, the certificate does not change.`,
  }),
  password: lineOf(limits.password, {
    description: `Password of the PKCS #12 file. Postern does not store it. Responses contain ${secretMask} instead.`,
  }),
  tokenKeyId: lineOf(maxKeyId, {
    description:
      'Id of a key in the PKCS #11 token of the server, hexadecimal: one of `tokenKeyIds`. With it, `certificate` is a PEM file in base64, with the certificate of the key and those of its issuers, and `password` is empty. Empty or null: Postern stores the key.',
  }),
  timestampUrl: lineOf(maxUrl, {
    description:
      'Address of a time-stamp authority (RFC 3161). With it, signatures have the level PAdES B-T; if the authority does not respond, PDF files that must be signed cannot be downloaded. Empty or null: signatures of the level B-B, with the time of this machine.',
  }),
};

const { subject, issuer, serialNumber, validFrom, validTo, certificate, password, tokenKeyId, timestampUrl } = signatureFields;

/** The certificate in responses. All fields are null if there is none. */
export const SignatureRecord = Type.Object({
  subject: orNull(subject),
  issuer: orNull(issuer),
  serialNumber: orNull(serialNumber),
  validFrom: orNull(validFrom),
  validTo: orNull(validTo),
  certificate: orNull(certificate),
  password: orNull(password),
  tokenKeyId: orNull(tokenKeyId),
  timestampUrl: orNull(timestampUrl),
});
export type SignatureRecord = Static<typeof SignatureRecord>;

/** The response of signature/get. */
export const StoredSignatureRecord = Type.Object({
  ...SignatureRecord.properties,
  tokenKeyIds: Type.Array(Type.String(), { description: 'Ids of the keys in the PKCS #11 token with which the tenant may sign.' }),
});
export type StoredSignatureRecord = Static<typeof StoredSignatureRecord>;

/** Body of signature/update. */
export const SignatureChange = bodyOf(signatureFields, ['certificate', 'password'], ['tokenKeyId', 'timestampUrl']);
export type SignatureChange = Static<typeof SignatureChange>;
