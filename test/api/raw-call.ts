import { adminKey, type TestPostern } from '../start.ts';

export const jsonHeaders = { 'content-type': 'application/json' };

/** Sends a request as given, and adds only the key, by default the admin key. @returns status, headers and parsed body */
export async function callRaw(postern: TestPostern, path: string, { key = adminKey, ...init }: RequestInit & { key?: string | null } = {}) {
  const headers = new Headers(init.headers);
  if (key !== null) headers.set('authorization', `Bearer ${key}`);
  const response = await fetch(`${postern.apiUrl}${path}`, { ...init, headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}
