import type { FastifyRequest } from 'fastify';
import { isChange, type Operation } from '#features/operation.ts';
import { checkNames, readQuery } from '#http/validation.ts';

/** Returns the input of an operation: the query of a GET, the JSON body of a POST or DELETE, or the query of a DELETE without a body. */
function inputOf(request: FastifyRequest, operation: Operation): unknown {
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

/** Removes the fields that Postern computes: a client may send them back, and they are not checked. */
function withoutComputed(parameters: unknown, computed: readonly string[]): unknown {
  if (computed.length === 0 || typeof parameters !== 'object' || parameters === null || Array.isArray(parameters)) return parameters;
  const rest = { ...parameters };
  for (const name of computed) Reflect.deleteProperty(rest, name);
  return rest;
}

/** Returns the parameters of an operation, not checked yet. @throws Refusal (400) as `readQuery` and `checkNames` */
export const parametersOf = (request: FastifyRequest, operation: Operation): unknown =>
  withoutComputed(inputOf(request, operation), operation.computed ?? []);
