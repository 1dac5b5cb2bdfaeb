import { createHash } from 'node:crypto';
import { request } from 'node:http';
import type { TestPostern } from '../start.ts';
import { type RawResponse, sendPath } from '../visit/visiting.ts';

/** A client that sends requests of the tus protocol to a link. */
export interface TusClient {
  /** Sends a request of the tus protocol. `path` is relative to the public base URL, or the value of a Location header. */
  send(method: string, path: string, headers?: Record<string, string>, body?: string | Uint8Array): Promise<RawResponse>;
  /** Sends the request that begins an upload. */
  announce(name: string, size: number, headers?: Record<string, string>): Promise<RawResponse>;
  /** Begins an upload. @returns its address @throws Error if the server refuses it */
  begin(name: string, size: number, headers?: Record<string, string>): Promise<string>;
  patch(address: string, offset: number, part: string | Uint8Array, headers?: Record<string, string>): Promise<RawResponse>;
  /** Returns how many bytes have arrived. */
  offset(address: string): Promise<number>;
  /** Begins to send a part of `length` bytes. */
  beginPart(address: string, offset: number, length: number): BegunPart;
  /**
   * Sends the beginning of a part, and leaves the connection open.
   * @returns a function that closes the connection
   */
  sendBeginning(address: string, offset: number, beginning: Uint8Array, length: number): () => void;
}

/** A part that is sent piece by piece. */
export interface BegunPart {
  send(bytes: Uint8Array): void;
  close(): void;
  /** Resolves when the request has ended, with or without a response. */
  readonly ended: Promise<unknown>;
}

export const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('base64');
export const metadataOf = (name: string) => `filename ${Buffer.from(name).toString('base64')}`;

/** Returns a client of the folder of a link. @param base path of the link @param cookie of a signed-in visitor */
export function tusClient(postern: TestPostern, base: string, cookie = ''): TusClient {
  const ownHeaders = { 'tus-resumable': '1.0.0', ...(cookie ? { cookie } : {}) };
  const partHeaders = (offset: number) => ({ 'upload-offset': `${offset}`, 'content-type': 'application/offset+octet-stream' });
  const pathOf = (address: string) => (address.startsWith('http') ? new URL(address).pathname : address);
  const client: TusClient = {
    send: (method, path, headers = {}, body = '') =>
      sendPath(postern, pathOf(path), { method, headers: { ...ownHeaders, ...headers }, body }),
    announce: (name, size, headers) =>
      client.send('POST', `${base}/upload`, { 'upload-length': `${size}`, 'upload-metadata': metadataOf(name), ...headers }),
    async begin(name, size, headers) {
      const { status, headers: responseHeaders, text } = await client.announce(name, size, headers);
      if (status !== 201 || !responseHeaders.location) throw new Error(`the upload was answered with ${status}: ${text}`);
      return responseHeaders.location;
    },
    patch: (address, offset, part, headers = {}) => client.send('PATCH', address, { ...partHeaders(offset), ...headers }, part),
    async offset(address) {
      const { status, headers } = await client.send('HEAD', address);
      if (status !== 200) throw new Error(`HEAD was answered with ${status}`);
      return Number(headers['upload-offset']);
    },
    beginPart(address, offset, length) {
      const { hostname, port, pathname: path } = new URL(address);
      const headers = { ...ownHeaders, ...partHeaders(offset), 'content-length': length };
      const partRequest = request({ hostname, port, path, method: 'PATCH', headers, agent: false });
      partRequest.on('error', () => {}); // the test, or Postern, closes the connection
      const ended = new Promise((resolve) => partRequest.on('response', resolve).on('close', resolve));
      return { send: (bytes) => void partRequest.write(bytes), close: () => void partRequest.destroy(), ended };
    },
    sendBeginning(address, offset, beginning, length) {
      const part = client.beginPart(address, offset, length);
      part.send(beginning);
      return part.close;
    },
  };
  return client;
}
