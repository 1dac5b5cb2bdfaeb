import type { FastifyReply } from 'fastify';

/** JSON texts by response. A cached response is the same object for each request, so it is serialized only once. */
const texts = new WeakMap<object, string>();

const longText = 1 << 19; // characters: writing them as JSON takes some ms

/** Returns whether the text of a response is long, and not written yet. */
export function isLong(response: object): boolean {
  if (texts.has(response)) return false;
  const list: unknown = Reflect.get(response, 'list');
  let length = 0;
  for (const record of Array.isArray(list) ? list : [response])
    for (const value of Object.values(record)) if (typeof value === 'string') length += value.length;
  return length > longText;
}

/** Returns the JSON text of a response. */
export function serializeOnce(response: object, reply: FastifyReply): string {
  const cached = texts.get(response);
  if (cached !== undefined) return cached;
  const text = String(reply.serialize(response));
  texts.set(response, text);
  return text;
}
