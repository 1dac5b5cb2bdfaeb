import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();

/** Returns a CBOR byte string of 24 bytes or more, with the shortest form of its length (RFC 8949, 4.2.1). */
function cborBytes(bytes: Buffer): Buffer {
  const head = bytes.length < 256 ? [0x58, bytes.length] : [0x59, bytes.length >> 8, bytes.length & 255];
  return Buffer.concat([Buffer.from(head), bytes]);
}
const cborText = (text: string) => Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);

/** Returns an EC2 key for ES256 (RFC 9052, 7 and RFC 9053, 7.1.1): kty 2, alg -7, crv 1, x, y. */
const coseKey = ({ x = '', y = '' }: { readonly x?: string; readonly y?: string }) =>
  Buffer.concat([
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
    cborBytes(Buffer.from(x, 'base64url')),
    Buffer.from([0x22]),
    cborBytes(Buffer.from(y, 'base64url')),
  ]);

const userPresent = 0x01;
const attestedCredential = 0x40;

export interface PasskeyDevice {
  /** Creates a passkey. @param origin of the page @param statement format and CBOR of the attestation; default: none */
  create(options: { challenge: string }, origin: string, statement?: { fmt: string; cbor: Buffer }): object;
  /** Signs a challenge with the passkey. @param counter signature counter of this use */
  use(options: { challenge: string }, origin: string, counter?: number): { id: string; response: Record<string, string> };
}

/** A fake security key with one passkey (WebAuthn Level 3, 6). It does not use the WebAuthn library of the server. */
export function passkeyDevice(): PasskeyDevice {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const credentialId = randomBytes(32);
  const id = credentialId.toString('base64url');
  const clientDataOf = (type: string, challenge: string, origin: string) => Buffer.from(JSON.stringify({ type, challenge, origin }));
  const authenticatorData = (origin: string, flags: number, counter: number) => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(new URL(origin).hostname), Buffer.from([flags]), count]);
  };
  return {
    create({ challenge }, origin, { fmt, cbor } = { fmt: 'none', cbor: Buffer.from([0xa0]) }) {
      const clientData = clientDataOf('webauthn.create', challenge, origin);
      const length = Buffer.from([0, credentialId.length]);
      const key = coseKey(publicKey.export({ format: 'jwk' }));
      const data = [authenticatorData(origin, userPresent | attestedCredential, 0), Buffer.alloc(16), length, credentialId, key];
      const attestation = [Buffer.from([0xa3]), cborText('fmt'), cborText(fmt), cborText('attStmt'), cbor, cborText('authData')];
      const attestationObject = Buffer.concat([...attestation, cborBytes(Buffer.concat(data))]).toString('base64url');
      const response = { clientDataJSON: clientData.toString('base64url'), attestationObject, transports: ['usb'] };
      return { id, rawId: id, type: 'public-key', response, clientExtensionResults: {}, authenticatorAttachment: 'cross-platform' };
    },
    use({ challenge }, origin, counter = 0) {
      const clientData = clientDataOf('webauthn.get', challenge, origin);
      const data = authenticatorData(origin, userPresent, counter);
      const signature = sign('sha256', Buffer.concat([data, sha256(clientData)]), privateKey);
      const [clientDataJSON, authenticator] = [clientData.toString('base64url'), data.toString('base64url')];
      return { id, response: { clientDataJSON, authenticatorData: authenticator, signature: signature.toString('base64url') } };
    },
  };
}
