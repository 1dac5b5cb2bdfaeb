import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FirstOperator, OperatorSignIn, WhoCalls } from '#core/records/operator.ts';
import { whoCalls } from '#features/callers/get-caller.ts';
import { makeFirstOperator } from '#features/first-start/first-operator.ts';
import { endOperatorSession, longestOperatorSession } from '#features/operators/operator-session.ts';
import { type OperatorSignedIn, signInOperator } from '#features/operators/sign-in-operator.ts';
import { largestOpenBody } from '#http/body-limits.ts';
import { noQuery, readQuery, validator } from '#http/validation.ts';
import type { Ports } from '#ports/ports.ts';
import { allConsoleTokens, clearConsoleCookies, consoleToken, setConsoleCookie } from './console-cookie.ts';

const origin = (request: FastifyRequest) => ({ address: request.ip, requestId: request.id });

/** Adds the routes of /api/v1 that sign operators in and out. They set the console's cookie. */
export function operatorRoutes(api: FastifyInstance, ports: Ports): void {
  const checkNoQuery = validator(noQuery);
  const checkSignIn = validator(OperatorSignIn);
  const checkFirst = validator(FirstOperator);
  const options = { config: { open: true }, bodyLimit: largestOpenBody, schema: { response: { 200: WhoCalls } } };
  const { publicUrl } = ports.links;
  async function openSession(request: FastifyRequest, reply: FastifyReply, { caller, token }: OperatorSignedIn): Promise<WhoCalls> {
    const previousToken = consoleToken(request, publicUrl());
    if (previousToken !== null) await endOperatorSession(ports, previousToken, origin(request));
    setConsoleCookie(request, reply, publicUrl(), token, longestOperatorSession / 1000);
    return whoCalls(caller, ports);
  }

  api.post<{ Body: OperatorSignIn }>('/operator/signIn', options, async (request, reply) => {
    checkNoQuery(readQuery(request.url, noQuery));
    checkSignIn(request.body ?? {});
    return openSession(request, reply, await signInOperator(ports, request.body, origin(request)));
  });
  api.post<{ Body: FirstOperator }>('/operator/first', options, async (request, reply) => {
    checkNoQuery(readQuery(request.url, noQuery));
    checkFirst(request.body ?? {});
    return openSession(request, reply, await makeFirstOperator(ports, request.body, origin(request)));
  });
  api.post('/operator/signOut', { config: { open: true }, bodyLimit: largestOpenBody }, async (request, reply) => {
    checkNoQuery(readQuery(request.url, noQuery));
    checkNoQuery(request.body ?? {});
    for (const token of allConsoleTokens(request)) await endOperatorSession(ports, token, origin(request));
    clearConsoleCookies(request, reply, publicUrl());
    return reply.code(204).send();
  });
}
