import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { Refusal } from '#core/messages.ts';
import type { Operation } from '#features/operation.ts';
import { propertyNamesOf, readQuery } from '#http/validation.ts';

/** The schema of `dryRun`: a parameter of every change, and a field of its response. */
export const DryRun = Type.Optional(
  Type.Boolean({
    description: 'If true, runs all checks but changes nothing. The response has `dryRun: true`, and no fields of a new record.',
  }),
);

const dryRunQuery = Type.Object({ dryRun: DryRun });

/** Returns whether a request for a change asks for a dry run. @throws Refusal (400) if its query is invalid */
export function isDryRun(request: FastifyRequest, operation: Operation): boolean {
  if (!request.url.includes('?')) return false;
  const value = readQuery(request.url, dryRunQuery, propertyNamesOf(operation.body))['dryRun'];
  if (value === undefined || typeof value === 'boolean') return value ?? false;
  throw new Refusal('fieldInvalid', 'dryRun must be true or false', {
    fieldErrors: [{ field: 'dryRun', detail: 'must be true or false' }],
  });
}
