import type { FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';

const maxListLength = 1000; // characters: browsers send about 200, and sorting thousands of entries takes milliseconds

/** Returns as many entries from the start of a list as fit in the maximum length. */
function truncateList(list: string | undefined): string | undefined {
  if (list === undefined || list.length <= maxListLength) return list;
  return list.slice(0, Math.max(0, list.lastIndexOf(',', maxListLength)));
}

/** Returns the client's preferred media types, languages and encodings, from its Accept headers (RFC 9110, 12.5). */
export const preferencesOf = ({ headers }: FastifyRequest) =>
  new Negotiator({
    headers: {
      accept: truncateList(headers.accept),
      'accept-language': truncateList(headers['accept-language']),
      'accept-encoding': truncateList(headers['accept-encoding']?.toString()),
    },
  });
