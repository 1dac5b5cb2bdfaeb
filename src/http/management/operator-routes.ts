import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CallerRecord, FirstOperator, OperatorSignIn } from '#core/records/operator.ts';
import { callerRecord } from '#features/callers/get-caller.ts';
import { createFirstOperator } from '#features/first-start/first-operator.ts';
import { endOperatorSession, maxOperatorSessionTime } from '#features/operators/operator-session.ts';
import { type OperatorSignInResult, signInOperator } from '#features/operators/sign-in-operator.ts';
import { maxPublicBodyBytes } from '#http/body-limits.ts';
import { NoParameters, readQuery, validator } from '#http/validation.ts';
import type { Ports } from '#ports/ports.ts';
import { allConsoleTokens, clearConsoleCookies, consoleToken, setConsoleCookie } from './console-cookie.ts';

const origin = (request: FastifyRequest) => ({ address: request.ip, requestId: request.id });

/** Adds the routes of /api/v1 for the sign-in with a password, the first operator, and the sign-out. They set or delete the cookie. */
export function operatorRoutes(api: FastifyInstance, ports: Ports): void {
  const checkNoQuery = validator(NoParameters);
  const checkSignIn = validator(OperatorSignIn);
  const checkFirst = validator(FirstOperator);
  const options = { config: { open: true }, bodyLimit: maxPublicBodyBytes, schema: { response: { 200: CallerRecord } } };
  const { publicUrl } = ports.links;
  async function openSession(request: FastifyRequest, reply: FastifyReply, { caller, token }: OperatorSignInResult): Promise<CallerRecord> {
    const previousToken = consoleToken(request, publicUrl());
    if (previousToken !== null) await endOperatorSession(ports, previousToken, origin(request));
    setConsoleCookie(request, reply, publicUrl(), token, maxOperatorSessionTime / 1000);
    return callerRecord(caller, ports);
  }

  api.post<{ Body: OperatorSignIn }>('/operator/signIn', options, async (request, reply) => {
    checkNoQuery(readQuery(request.url, NoParameters));
    checkSignIn(request.body ?? {});
    return openSession(request, reply, await signInOperator(ports, request.body, origin(request)));
  });
  api.post<{ Body: FirstOperator }>('/operator/first', options, async (request, reply) => {
    checkNoQuery(readQuery(request.url, NoParameters));
    checkFirst(request.body ?? {});
    return openSession(request, reply, await createFirstOperator(ports, request.body, origin(request)));
  });
  api.post('/operator/signOut', { config: { open: true }, bodyLimit: maxPublicBodyBytes }, async (request, reply) => {
    checkNoQuery(readQuery(request.url, NoParameters));
    checkNoQuery(request.body ?? {});
    for (const token of allConsoleTokens(request)) await endOperatorSession(ports, token, origin(request));
    clearConsoleCookies(request, reply, publicUrl());
    return reply.code(204).send();
  });
}
