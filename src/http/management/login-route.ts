import type { FastifyInstance } from 'fastify';
import Type, { type Static } from 'typebox';
import { formatInstant } from '#core/instant.ts';
import { findValidKey, issueToken } from '#features/api-keys/find-api-key.ts';
import { newTokenLimit } from '#features/rate-limits/new-tokens.ts';
import { maxPublicBodyBytes } from '#http/body-limits.ts';
import { NoParameters, readQuery, validator } from '#http/validation.ts';
import type { Ports } from '#ports/ports.ts';
import { refuseKey } from './authenticate-caller.ts';

const tokenBits = 256;

export const Login = Type.Object(
  {
    username: Type.String({ minLength: 1, maxLength: 255, description: "The key's name." }),
    secretkey: Type.String({ minLength: 1, maxLength: 255, description: 'The key.' }),
  },
  { additionalProperties: false },
);
export const LoginResponse = Type.Object({
  token: Type.String({ description: 'Bearer token, valid for one hour, but never longer than its key.' }),
  expiryDateTime: Type.String({ format: 'date-time', description: 'Time when the token expires.' }),
});

/** Adds POST /api/v1/login, for clients that sign in before other calls. */
export function loginRoute(api: FastifyInstance, ports: Ports): void {
  const check = validator(Login);
  const checkNoQuery = validator(NoParameters);
  const tokens = newTokenLimit(ports.clock);
  api.post<{ Body: Static<typeof Login> }>(
    '/login',
    { config: { open: true }, bodyLimit: maxPublicBodyBytes, schema: { response: { 200: LoginResponse } } },
    async (request) => {
      checkNoQuery(readQuery(request.url, NoParameters));
      check(request.body ?? {});
      const { username, secretkey } = request.body;
      const now = ports.clock.now();
      const key = await findValidKey(ports.store, secretkey, now);
      // A token must not sign in: it could renew itself forever.
      if (!key || key.isFromToken || key.name !== username) return refuseKey(ports, request.ip);
      tokens.count(key.keyId);
      const token = `pst_t_${ports.random.token(tokenBits)}`;
      return { token, expiryDateTime: formatInstant(await issueToken(ports.store, key, token, now)) };
    },
  );
}
