import { createCipheriv, hash, randomBytes, randomFillSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const key = randomBytes(32);
const pool = Buffer.alloc(4096);
let usedBytes = pool.length;

/** Returns random bytes. One call to the kernel provides the bytes of many sign-ins. */
function random(bytes: number): Buffer {
  if (usedBytes + bytes > pool.length) {
    randomFillSync(pool);
    usedBytes = 0;
  }
  usedBytes += bytes;
  return pool.subarray(usedBytes - bytes, usedBytes);
}

const randomValue = () => random(32).toString('base64url');

const seal = (text: string) => {
  const nonce = random(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64url');
};

const links = new Map([['link', { validUntil: Number.POSITIVE_INFINITY, redirectUri: 'https://files.example.com/sign-in/oidc/1' }]]);
const countsOfNetworks = new Map<string, number>();
const maxStarts = 300; // of one network in the whole run; Postern allows this number per minute

const linkHeaders = {
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
  'content-security-policy': "default-src 'none'; script-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cache-control': 'private, no-store',
} as const;

/** Adds a request to the count of its client's address. @returns the new count */
function count({ headers }: IncomingMessage): number {
  const address = `${headers['x-forwarded-for']}`;
  const newCount = (countsOfNetworks.get(address) ?? 0) + 1;
  countsOfNetworks.set(address, newCount);
  return newCount;
}

/** The response that starts a sign-in. */
interface Start {
  readonly status: 303 | 403;
  readonly headers: Record<string, string>;
}

/**
 * Starts a sign-in with minimal work. Like Postern, it checks that the link is valid and limits the requests, here by client
 * address. It also refuses requests with an `Origin` header. An encrypted cookie contains the state, the nonce and the PKCE verifier.
 */
export function startMinimalSignIn(request: IncomingMessage): Start {
  const link = links.get(request.url?.split('/', 3)[2] ?? '');
  const isRefused = !link || link.validUntil < Date.now() || count(request) > maxStarts || request.headers.origin !== undefined;
  if (isRefused) return { status: 403, headers: {} };
  const [state, nonce, verifier] = [randomValue(), randomValue(), randomValue()];
  const challenge = hash('sha256', verifier, 'base64url');
  const query = new URLSearchParams({
    ...{ client_id: 'postern', response_type: 'code', scope: 'openid email', redirect_uri: link.redirectUri },
    ...{ state, nonce, code_challenge: challenge, code_challenge_method: 'S256' },
  });
  const cookie = `sign-in=${seal(JSON.stringify({ state, nonce, verifier }))}; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=600`;
  return { status: 303, headers: { ...linkHeaders, location: `https://login.example.com/authorize?${query}`, 'set-cookie': cookie } };
}
