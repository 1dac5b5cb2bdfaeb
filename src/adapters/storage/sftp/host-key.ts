/** Types of host keys, and the signature algorithms with which a server may prove that it has such a key, the preferred one first. */
const algorithmsOfType = {
  'ssh-ed25519': ['ssh-ed25519'],
  'ecdsa-sha2-nistp256': ['ecdsa-sha2-nistp256'],
  'ecdsa-sha2-nistp384': ['ecdsa-sha2-nistp384'],
  'ecdsa-sha2-nistp521': ['ecdsa-sha2-nistp521'],
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256'],
} as const;
type KeyType = keyof typeof algorithmsOfType;

const isKeyType = (type: string): type is KeyType => Object.hasOwn(algorithmsOfType, type);

/** The key that identifies a server. */
export interface HostKey {
  readonly bytes: Buffer;
  readonly algorithms: (typeof algorithmsOfType)[KeyType];
}

/** Reads a key as it stands in a `.pub` file: type, base64, comment. @returns null if the text is not such a key */
export function parseHostKey(text: string): HostKey | null {
  const [type = '', base64 = ''] = text.trim().split(/\s+/);
  const bytes = Buffer.from(base64, 'base64');
  if (!isKeyType(type) || bytes.length < 4) return null;
  // The bytes begin with the type again, after its length.
  const isOfType = bytes.readUInt32BE(0) === type.length && bytes.toString('latin1', 4, 4 + type.length) === type;
  return isOfType ? { bytes, algorithms: algorithmsOfType[type] } : null;
}
