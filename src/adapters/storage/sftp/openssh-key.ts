// The file format of private keys of OpenSSH: https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.key

const magic = 'openssh-key-v1\0';
const [header, footer] = ['-----BEGIN OPENSSH PRIVATE KEY-----', '-----END OPENSSH PRIVATE KEY-----'];
const blockSize = 8; // bytes: an unencrypted private part is padded to a multiple of this

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const sshString = (value: Buffer | string) => Buffer.concat([uint32(Buffer.byteLength(value)), Buffer.from(value)]);

/** Returns the SSH string at an offset, and the offset after it. The string is cut off if the bytes end before its stated length. */
function readString(bytes: Buffer, offset: number): readonly [Buffer, number] {
  if (offset + 4 > bytes.length) return [Buffer.alloc(0), bytes.length];
  const end = Math.min(bytes.length, offset + 4 + bytes.readUInt32BE(offset));
  return [bytes.subarray(offset + 4, end), end];
}

/** Returns how many times the passphrase of a private key is hashed; 0: the text states no number. */
export function passphraseRounds(text: string): number {
  const start = text.indexOf(header);
  const bytes = start < 0 ? Buffer.alloc(0) : Buffer.from(text.slice(start + header.length, text.indexOf(footer)), 'base64');
  if (bytes.toString('latin1', 0, magic.length) !== magic) return 0;
  const [, afterCipher] = readString(bytes, magic.length);
  const [, afterKdf] = readString(bytes, afterCipher);
  const [options] = readString(bytes, afterKdf);
  const [, afterSalt] = readString(options, 0);
  return afterSalt + 4 <= options.length ? options.readUInt32BE(afterSalt) : 0;
}

/**
 * Returns an unencrypted Ed25519 key as a file of OpenSSH.
 * @param seed the secret value from which the key is derived, 32 bytes
 * @param publicBlob the public key as SSH sends it
 */
export function formatEd25519(seed: Buffer, publicBlob: Buffer): string {
  const publicKey = publicBlob.subarray(-32);
  const privatePart = Buffer.concat([
    Buffer.alloc(8), // two equal numbers, which show whether a passphrase is right
    ...[sshString('ssh-ed25519'), sshString(publicKey), sshString(Buffer.concat([seed, publicKey])), sshString('')],
  ]);
  const padding = Buffer.from(Array.from({ length: blockSize - (privatePart.length % blockSize) }, (_, index) => index + 1));
  const noEncryption = [sshString('none'), sshString('none'), sshString('')];
  const content = [uint32(1), sshString(publicBlob), sshString(Buffer.concat([privatePart, padding]))];
  const base64 = Buffer.concat([Buffer.from(magic), ...noEncryption, ...content]).toString('base64');
  return `${header}\n${base64.replace(/.{70}/g, '$&\n')}\n${footer}\n`;
}
