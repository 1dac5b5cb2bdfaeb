/** Media type of a part of a file (tus 1.0.0). */
export const partType = 'application/offset+octet-stream';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

function decode(value: string): string | null {
  if (!base64.test(value)) return null;
  try {
    return decoder.decode(Buffer.from(value, 'base64'));
  } catch {
    return null; // not UTF-8
  }
}

/**
 * Returns the file name of an Upload-Metadata header (tus 1.0.0: `key base64,key base64`).
 * @returns null if the header names no file, or if the name is malformed. The other pairs are not checked
 */
export function fileNameOf(metadata: string): string | null {
  for (const pair of metadata.split(',')) {
    const [key, value, rest] = pair.trim().split(' ');
    if (key === 'filename' && value !== undefined && rest === undefined) return decode(value);
  }
  return null;
}
