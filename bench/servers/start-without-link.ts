// The smallest server that starts a sign-in with Postern's own parts, without a link or a database.
import { OpenIdProviders } from '#adapters/identity/openid-client.ts';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { keyVault } from '#adapters/os/key-vault.ts';
import { systemClock, systemRandom } from '#adapters/os/system.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import { sealPending } from '#features/provider-sign-ins/pending-sign-in.ts';
import { providerRequestLimit } from '#features/rate-limits/network-limit.ts';
import { redirect } from '#http/redirect.ts';
import { defaultTimeouts } from '#http/request-timeouts.ts';
import { createHttpServer } from '#http/server.ts';
import { setProviderCookie } from '#http/visitor/provider-cookies.ts';
import { linkHeaders } from '#http/visitor/visitor-responses.ts';

const [issuer = ''] = process.argv.slice(2);
const [clock, random, publicUrl] = [systemClock, systemRandom(), 'https://files.example.com'];
const ports = { clock, vault: keyVault('a secret key', random) };
const limit = providerRequestLimit(clock);
const openId = new OpenIdProviders(guardedOutbound({ privateTargets: packRangeText('127.0.0.1') }), random, () => performance.now());
const client = { issuer, clientId: 'postern', clientSecret: 'secret', tid: 1 };
const signIn = { redirectUrl: `${publicUrl}/sign-in/oidc/1`, scopes: 'openid email profile' };

const settings = { trustedProxies: ['127.0.0.1'], log: null, timeouts: defaultTimeouts, clientAddress: null, writeAccessEntry: null };
const app = createHttpServer(settings, { clock, random });
app.get('/sign-in/link', async (request, reply) => {
  limit.count(request.ip, 1);
  const { url, pending } = await openId.begin(client, signIn);
  const sealed = sealPending(ports, 'sign-in', { pending });
  setProviderCookie(request, reply, publicUrl, { state: pending.state, protocol: 'oidc', value: sealed });
  return redirect(reply.headers(linkHeaders), url);
});
const url = await app.listen({ host: '127.0.0.1', port: 0 });
console.log(`ready ${new URL(url).port}`);
