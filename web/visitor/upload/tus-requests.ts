import { addressOf, Failure, failureOf, orOffline, parseFailure, sendFile } from '#visitor/link-api.ts';

// The requests of the protocol tus 1.0.0 (docs/integrator/rest.md, "Uploads in parts").

const tusHeaders = { 'tus-resumable': '1.0.0', accept: 'application/json' };

async function send(method: 'POST' | 'DELETE', address: string, headers: Record<string, string> = {}): Promise<Response> {
  const response = await orOffline(fetch(address, { method, headers: { ...tusHeaders, ...headers } }));
  if (!response.ok) throw await failureOf(response);
  return response;
}

const toBase64 = (text: string) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

/** Begins an upload. @param path of the file, with its name at the end @returns the path of the upload's address */
export async function beginUpload(path: readonly string[], size: number): Promise<string> {
  const response = await send('POST', addressOf('upload', path.slice(0, -1)), {
    'upload-length': `${size}`,
    'upload-metadata': `filename ${toBase64(path.at(-1) ?? '')}`,
  });
  return new URL(response.headers.get('location') ?? '', window.location.href).pathname;
}

/** What the server has received of an upload. */
export interface UploadState {
  /** Bytes. */
  readonly received: number;
  /** Whether the file is complete. */
  readonly isComplete: boolean;
  /** SHA-256 of the complete file, hexadecimal, or null. */
  readonly sha256: string | null;
}

/** Returns what the server has received of an upload. @throws Failure, with the code `uploadUnknown` if there is no such upload */
export async function fetchState(address: string): Promise<UploadState> {
  const response = await orOffline(fetch(address, { method: 'HEAD', headers: tusHeaders }));
  const received = response.headers.get('upload-offset');
  const isComplete = response.status === 410 && received !== null; // a 410 without an offset means that the link has expired
  if (response.status === 404) throw new Failure(404, 'uploadUnknown', '', null);
  if (!response.ok && !isComplete) throw parseFailure(response.status, '', response.headers.get('retry-after'));
  return { received: Number(received), isComplete, sha256: digestOf(response.headers.get('repr-digest')) };
}

/** Ends an upload: the server deletes what has arrived. */
export const endUpload = (address: string): Promise<unknown> => send('DELETE', address);

/** Returns the SHA-256 in a header `Repr-Digest` (RFC 9530), hexadecimal, or null. */
function digestOf(header: string | null): string | null {
  const [, base64] = /^sha-256=:(.*):$/.exec(header ?? '') ?? [];
  return base64 === undefined ? null : Array.from(atob(base64), (letter) => letter.charCodeAt(0).toString(16).padStart(2, '0')).join('');
}

/**
 * Sends a part of a file.
 * @param offset where the part begins
 * @returns SHA-256 of the complete file, hexadecimal, or null if more parts must follow
 */
export async function sendPart(
  address: string,
  file: File,
  { offset, end }: { readonly offset: number; readonly end: number },
  onProgress: (sent: number) => void,
  signal: AbortSignal,
): Promise<string | null> {
  const response = await sendFile(
    {
      method: 'PATCH',
      address,
      headers: { ...tusHeaders, 'upload-offset': `${offset}`, 'content-type': 'application/offset+octet-stream' },
      body: file.slice(offset, end),
      onProgress,
    },
    signal,
  );
  return digestOf(response.getResponseHeader('repr-digest'));
}
