import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { SignJWT } from 'jose';
import { atEnd } from './at-end.ts';

/** A fake OpenID provider that sends the responses that a test sets: no real provider sends forged tokens. */
export interface ForgingProvider {
  readonly issuer: string;
  readonly configuration: { readonly issuer: string; readonly clientId: string; readonly clientSecret: string };
  /** The private key that signs the ID tokens. The provider publishes its public key. */
  readonly key: KeyObject;
  readonly publicKey: KeyObject;
  /** Nonce of the sign-in that began last. */
  nonce: string;
  /** Returns the ID token for the next token request of a sign-in or a renewal. */
  idToken: () => Promise<string>;
  /** Claims of the userinfo endpoint. */
  userinfo: object;
  /** Refresh token that token responses contain. The provider accepts any refresh token. */
  refreshToken: string;
  /** Fields that token responses omit: `refresh_token`, `id_token` or both. At first: none. */
  readonly omittedFields: Set<string>;
  readonly tokenRequests: URLSearchParams[];
  /** Replaces the response to a path, such as `/token`. */
  readonly responses: Map<string, (request: IncomingMessage, response: ServerResponse) => void>;
  /** Parameters that are set in the address to which the browser is sent back. */
  readonly returnParameters: Record<string, string>;
  readonly requestedPaths: string[];
  /** Returns the claims of a valid ID token, replaced or completed by those in `over`. */
  claims(over?: object): Record<string, unknown>;
  /** Signs claims with `key`. @param type `typ` of the header */
  sign(claims: object, type?: string): Promise<string>;
}

const seconds = () => Math.floor(Date.now() / 1000);

/** Starts a provider for a test. */
export async function startForgingProvider(t: TestContext): Promise<ForgingProvider> {
  const { provider, close } = await openForgingProvider();
  atEnd(t, close);
  return provider;
}

/** Starts a provider. @returns the provider, and a function that stops it */
export async function openForgingProvider(): Promise<{ readonly provider: ForgingProvider; readonly close: () => void }> {
  const { privateKey: key, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const server = createServer((request, response) => answer(provider, request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // the server listens on TCP
  const issuer = `http://127.0.0.1:${port}`;
  const provider: ForgingProvider = {
    ...{
      issuer,
      key,
      publicKey,
      nonce: '',
      userinfo: {},
      refreshToken: 'a-refresh-token',
      omittedFields: new Set<string>(),
      tokenRequests: [],
      responses: new Map(),
      returnParameters: {},
      requestedPaths: [],
    },
    configuration: { issuer, clientId: 'postern', clientSecret: 'a-secret-of-the-client' },
    idToken: () => provider.sign(provider.claims()),
    claims: (over = {}) => ({
      ...{ iss: issuer, aud: 'postern', sub: 'ann', iat: seconds(), exp: seconds() + 300, nonce: provider.nonce },
      ...{ email: 'ann@example.com', email_verified: true, name: 'Ann', ...over },
    }),
    sign: (claims, typ) =>
      new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256', kid: 'first', ...(typ === undefined ? {} : { typ }) }).sign(key),
  };
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { provider, close };
}

/** Records a token request. @returns the body of the response */
async function tokenResponse(provider: ForgingProvider, request: IncomingMessage): Promise<object> {
  provider.tokenRequests.push(new URLSearchParams(await text(request)));
  const tokens = { refresh_token: provider.refreshToken, id_token: await provider.idToken() };
  const tokenFields = Object.entries(tokens).filter(([name]) => !provider.omittedFields.has(name));
  return { access_token: 'an-access-token', token_type: 'Bearer', ...Object.fromEntries(tokenFields) };
}

function answer(provider: ForgingProvider, request: IncomingMessage, response: ServerResponse): void {
  const { issuer } = provider;
  const { pathname, searchParams } = new URL(request.url ?? '', issuer);
  provider.requestedPaths.push(pathname);
  const json = (body: object) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  const replacement = provider.responses.get(pathname);
  if (replacement) {
    replacement(request, response);
    return;
  }
  switch (pathname) {
    case '/.well-known/openid-configuration':
      return void json({
        ...{ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` },
        ...{ jwks_uri: `${issuer}/keys`, userinfo_endpoint: `${issuer}/userinfo`, response_types_supported: ['code'] },
        ...{ subject_types_supported: ['public'], id_token_signing_alg_values_supported: ['RS256'] },
        ...{ token_endpoint_auth_methods_supported: ['client_secret_post'], authorization_response_iss_parameter_supported: true },
      });
    case '/keys':
      return void json({ keys: [{ ...provider.publicKey.export({ format: 'jwk' }), kid: 'first', alg: 'RS256', use: 'sig' }] });
    case '/authorize': {
      provider.nonce = searchParams.get('nonce') ?? '';
      const redirect = new URL(searchParams.get('redirect_uri') ?? '');
      const parameters = { code: 'a-code', state: searchParams.get('state') ?? '', iss: issuer, ...provider.returnParameters };
      for (const [name, value] of Object.entries(parameters)) redirect.searchParams.set(name, value);
      return void response.writeHead(303, { location: redirect.href }).end();
    }
    case '/token':
      return void tokenResponse(provider, request).then(json);
    case '/userinfo':
      return void json({ sub: 'ann', ...provider.userinfo });
    default:
      response.writeHead(404).end();
  }
}
