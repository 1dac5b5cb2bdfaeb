import { addressOf, Failure, offlineFailure, parseFailure, sendFile, type UploadReceipt } from '#visitor/link-api.ts';

// The requests of the protocol tus 1.0.0 (docs/integrator/rest.md, "Uploads in parts").

const tusHeaders = { 'tus-resumable': '1.0.0', accept: 'application/json' };

async function send(method: 'POST' | 'HEAD' | 'DELETE', address: string, headers: Record<string, string> = {}): Promise<Response> {
  const response = await fetch(address, { method, headers: { ...tusHeaders, ...headers } }).catch(() => {
    throw offlineFailure();
  });
  if (!response.ok) throw parseFailure(response.status, await response.text(), response.headers.get('retry-after'));
  return response;
}

/** Returns a text as UTF-8 in base64. */
const toBase64 = (text: string) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

/** Begins an upload. @param path of the file, with its name at the end @returns the path of its address */
export async function beginUpload(path: readonly string[], size: number): Promise<string> {
  const response = await send('POST', addressOf('upload', path.slice(0, -1)), {
    'upload-length': `${size}`,
    'upload-metadata': `filename ${toBase64(path.at(-1) ?? '')}`,
  });
  return new URL(response.headers.get('location') ?? '', window.location.href).pathname;
}

/** Returns how many bytes the server has, or null if the upload is complete. */
export async function fetchOffset(address: string): Promise<number | null> {
  try {
    return Number((await send('HEAD', address)).headers.get('upload-offset'));
  } catch (cause) {
    if (cause instanceof Failure && cause.status === 410) return null;
    throw cause;
  }
}

/** Ends an upload: the server deletes what has arrived. */
export const endUpload = (address: string): Promise<unknown> => send('DELETE', address);

const hexOf = (base64: string) => Array.from(atob(base64), (letter) => letter.charCodeAt(0).toString(16).padStart(2, '0')).join('');

/**
 * Sends a part of a file.
 * @param offset where the part begins
 * @returns the receipt of the complete file, or null if more parts must follow
 */
export async function sendPart(
  address: string,
  file: File,
  { offset, end }: { readonly offset: number; readonly end: number },
  onProgress: (sent: number) => void,
  signal: AbortSignal,
): Promise<UploadReceipt | null> {
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
  const [, digest] = /^sha-256=:(.*):$/.exec(response.getResponseHeader('repr-digest') ?? '') ?? [];
  return digest === undefined ? null : { name: file.name, size: file.size, sha256: hexOf(digest) };
}
