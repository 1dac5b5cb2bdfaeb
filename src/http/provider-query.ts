import type { FastifyRequest } from 'fastify';
import { Refusal } from '#core/messages.ts';

const maxQuery = 8192; // characters: longer than any code

/** Returns the query of a request. Unknown parameters are not refused (RFC 6749, 4.1.2). @throws Refusal (400) if it is too long */
export function providerQuery({ url }: FastifyRequest): URLSearchParams {
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
  if (query.length > maxQuery) throw new Refusal('requestMalformed', 'The address is too long.');
  return new URLSearchParams(query);
}
