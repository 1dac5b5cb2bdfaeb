import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import Provider, { type Configuration } from 'oidc-provider';
import { atEnd } from './at-end.ts';

/** Claims of the users of the provider, by subject. Tests may change them. */
export type ProviderUsers = Record<string, Record<string, unknown>>;

const client = { client_id: 'postern', client_secret: 'a-secret-of-the-client' };

/** A real OpenID provider (npm oidc-provider), which signs in the user that `next` names, without a form. */
export interface TestProvider {
  readonly issuer: string;
  readonly users: ProviderUsers;
  readonly server: Server;
  /** Subject of the user who signs in next. */
  next: string;
  /** Configuration of a login profile for this provider. */
  readonly configuration: { readonly issuer: string; readonly clientId: string; readonly clientSecret: string };
  /** Begins to respond to requests. @param redirect URI to which browsers are sent back */
  serve(redirect: string): void;
}

const newKey = () => ({
  ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
  ...{ use: 'sig', alg: 'RS256', kid: 'first' },
});

/** Starts a provider on this machine. Its client is `postern`. @param over settings that replace the defaults */
export async function startOpenIdProvider(t: TestContext, users: ProviderUsers, over: Configuration = {}): Promise<TestProvider> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // the server listens on TCP
  const issuer = `http://127.0.0.1:${port}`;
  const testProvider: TestProvider = {
    ...{ issuer, users, server, next: Object.keys(users)[0] ?? '' },
    configuration: { issuer, clientId: client.client_id, clientSecret: client.client_secret },
    serve: (redirect) => void server.on('request', providerOf(testProvider, redirect, over).callback()),
  };
  atEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return testProvider;
}

/** @param redirect URI to which browsers are sent back */
function providerOf(testProvider: TestProvider, redirect: string, over: Configuration): Provider {
  const { issuer, users } = testProvider;
  const provider = new Provider(issuer, {
    jwks: { keys: [newKey()] },
    cookies: { keys: ['test'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'preferred_username'], groups: ['groups'] },
    scopes: ['openid', 'offline_access', 'email', 'profile', 'groups'],
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    ttl: { AccessToken: 600, AuthorizationCode: 60, IdToken: 600, Session: 600, Interaction: 600, Grant: 600, RefreshToken: 3600 },
    findAccount: (_, id) => (users[id] ? { accountId: id, claims: () => ({ sub: id, ...users[id] }) } : undefined),
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({ clientId: client.client_id, accountId: oidc.session?.accountId ?? '' });
      grant.addOIDCScope('openid email profile groups offline_access');
      await grant.save();
      return grant;
    },
    issueRefreshToken: async () => true,
    ...over,
    clients: [{ ...client, ...over.clients?.[0], redirect_uris: [redirect], grant_types: ['authorization_code', 'refresh_token'] }],
  });
  provider.use(async (context, proceed) => {
    if (!context.path.startsWith('/interaction/')) return proceed();
    const result = users[testProvider.next]
      ? { login: { accountId: testProvider.next, remember: false } }
      : { error: 'access_denied', error_description: 'nobody of that name' };
    context.respond = false; // interactionFinished sends the response
    await provider.interactionFinished(context.req, context.res, result, { mergeWithLastSubmission: false });
  });
  return provider;
}
