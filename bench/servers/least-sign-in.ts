import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';

const key = randomBytes(32);

const randomValue = () => randomBytes(32).toString('base64url');

const seal = (text: string) => {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64url');
};

/** Starts a sign-in with the least work that OpenID Connect demands: state, nonce and PKCE, which the browser keeps in an encrypted cookie. */
export function startLeastSignIn(response: ServerResponse): void {
  const [state, nonce, verifier] = [randomValue(), randomValue(), randomValue()];
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const query = new URLSearchParams({
    ...{ client_id: 'postern', response_type: 'code', scope: 'openid email', redirect_uri: 'https://files.example.com/sign-in/oidc/1' },
    ...{ state, nonce, code_challenge: challenge, code_challenge_method: 'S256' },
  });
  const cookie = `sign-in=${seal(JSON.stringify({ state, nonce, verifier }))}; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=600`;
  response.writeHead(303, { location: `https://login.example.com/authorize?${query}`, 'set-cookie': cookie }).end();
}
