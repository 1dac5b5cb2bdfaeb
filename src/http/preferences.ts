import type { FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';

const longest = 1000; // characters: browsers send some 200, and sorting thousands of entries takes milliseconds

/** The first entries of a list, as far as they come. */
function firstOf(list: string | undefined): string | undefined {
  if (list === undefined || list.length <= longest) return list;
  return list.slice(0, Math.max(0, list.lastIndexOf(',', longest)));
}

/** What a client prefers: types, languages and encodings, by its Accept headers (RFC 9110, 12.5). */
export const preferencesOf = ({ headers }: FastifyRequest) =>
  new Negotiator({
    headers: {
      accept: firstOf(headers.accept),
      'accept-language': firstOf(headers['accept-language']),
      'accept-encoding': firstOf(headers['accept-encoding']?.toString()),
    },
  });
