import { type IncomingHttpHeaders, request } from 'node:http';
import type { Clock } from '#ports/clock.ts';
import { type Json, newShare, type TestPostern } from '../start.ts';

/** A response, with the bytes of its body as they were received. */
export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  readonly json: Json;
}

interface RawRequest {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
}

/** Sends a request with exactly this path, which is neither normalized nor encoded. */
export function sendPath(
  postern: TestPostern,
  path: string,
  { method = 'GET', headers = {}, body = '' }: RawRequest = {},
): Promise<RawResponse> {
  const { hostname, port } = new URL(postern.apiUrl);
  const allHeaders = { host: new URL(postern.publicUrl).host, ...headers };
  return new Promise((resolve, reject) => {
    const clientRequest = request({ hostname, port, path, method, headers: allHeaders, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.once('error', reject);
      response.once('end', () => {
        const bytes = Buffer.concat(pieces);
        const text = bytes.toString('utf8');
        const isJson = /json/.test(response.headers['content-type'] ?? '') && text !== '';
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes, text, json: isJson ? JSON.parse(text) : null });
      });
    });
    clientRequest.once('error', reject);
    clientRequest.end(body);
  });
}

/** A clock that begins at the real time and that a test can advance. */
export function settableClock(): Clock & { advance(milliseconds: number): void } {
  let time = Date.now();
  return {
    now: () => time,
    advance(milliseconds) {
      time += milliseconds;
    },
  };
}

export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;

/** Creates a share, by default of the root and with all permissions. @returns its ids, and the path of its link as `base` */
export async function createShare(postern: TestPostern, over: object = {}): Promise<{ id: number; viewId: string; base: string }> {
  const { id, viewId } = await postern.call('share/add', newShare(over));
  return { id: Number(id), viewId: String(viewId), base: `/s/${viewId}` };
}

export async function changeShare(postern: TestPostern, id: number, over: object): Promise<void> {
  const share = await postern.call('share/get', { id });
  await postern.call('share/update', { ...share, ...over });
}

export const jsonPostRequest = (body: object, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

export const basicAuthorization = (username: string, password: string) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

/** No permissions. A test sets the permissions that it needs to true. */
export const noPermissions = {
  canView: false,
  canDownload: false,
  canDownloadFolder: false,
  canUpload: false,
  canCreateFolder: false,
  canRename: false,
  canDelete: false,
} as const;
