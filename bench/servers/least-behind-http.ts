// The smallest program that starts sign-ins, behind the HTTP server of Postern: what its rules for all requests cost.
import { systemClock, systemRandom } from '#adapters/os/system.ts';
import { defaultTimeouts } from '#http/request-timeouts.ts';
import { createHttpServer } from '#http/server.ts';
import { startLeastSignIn } from './least-sign-in.ts';

const settings = { trustedProxies: ['127.0.0.1'], log: null, timeouts: defaultTimeouts, clientAddress: null };
const app = createHttpServer(settings, { clock: systemClock, random: systemRandom() });
app.get('/sign-in/:link', (request, reply) => {
  const { status, headers } = startLeastSignIn(request.raw);
  return reply.code(status).headers(headers).send();
});
const url = await app.listen({ host: '127.0.0.1', port: 0 });
console.log(`ready ${new URL(url).port}`);
