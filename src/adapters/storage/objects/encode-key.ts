/** Encodes all characters except the unreserved ones (RFC 3986, 2.3), since signatures are computed from the encoded text. */
export const encodeText = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/** Returns a key as part of a URL. */
export const encodeKey = (key: string): string => key.split('/').map(encodeText).join('/');

/** Returns a query without its `?`. */
export const encodeQuery = (query: Readonly<Record<string, string>>) =>
  Object.entries(query)
    .map(([name, value]) => `${encodeText(name)}=${encodeText(value)}`)
    .join('&');

/** Decodes a URL-encoded key from a list. @returns null if the key is not encoded correctly */
export function decodeKey(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
