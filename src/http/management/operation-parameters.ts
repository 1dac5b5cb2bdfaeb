import type { FastifyRequest } from 'fastify';
import { isChange, type Operation } from '#features/operation.ts';
import { checkNames, readQuery } from '#http/validation.ts';

/** The body as the operation's schema knows it: a question's query, a change's JSON, or a DELETE's query where it has no body. */
function sentTo(request: FastifyRequest, operation: Operation): unknown {
  if (operation.method === 'POST' && !request.url.includes('?')) return request.body ?? {};
  const query = readQuery(request.url, operation.body);
  if (operation.method === 'GET') return query;
  if (operation.method === 'DELETE' && (request.body ?? null) === null) {
    const { dryRun: _, ...rest } = query;
    return rest;
  }
  checkNames(Object.keys(query), isChange(operation) ? ['dryRun'] : []);
  return request.body ?? {};
}

/** What Postern computes may be sent back: it is dropped before the rest is checked. */
function withoutComputed(parameters: unknown, computed: readonly string[]): unknown {
  if (computed.length === 0 || typeof parameters !== 'object' || parameters === null || Array.isArray(parameters)) return parameters;
  const rest = { ...parameters };
  for (const name of computed) Reflect.deleteProperty(rest, name);
  return rest;
}

/** Returns the parameters of an operation, which are still to be checked. */
export const parametersOf = (request: FastifyRequest, operation: Operation): unknown =>
  withoutComputed(sentTo(request, operation), operation.computed ?? []);
