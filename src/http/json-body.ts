import { isUtf8 } from 'node:buffer';
import type { EventEmitter } from 'node:events';
import { narrowNetworkOf, siteOf } from '#core/client-networks.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { runWithRest, turns } from '#features/turns/turns.ts';
import { checkJsonStructure } from './json-structure.ts';

const longBody = 1 << 16; // bytes: a shorter body is parsed at once
const maxWaiting = { inner: 64, all: 192 };
const retryAfter = 2; // seconds

const malformedBody = () => new Refusal('bodyMalformed', 'The body must be JSON in UTF-8.');

/** Matches each JSON text that may contain a forbidden name or character. Characters of `__proto__` may be escaped, such as `\u005f`. */
const forbiddenText = /__proto__|\\u00[0567]/;

/**
 * Refuses `__proto__`, which has a meaning in JavaScript, and NUL, which no stored text contains and PostgreSQL cannot store.
 * @throws Refusal (400)
 */
function checkForbidden(body: unknown): void {
  const pending: [name: string, value: object][] = [];
  const checkValue = (name: string, value: unknown) => {
    if (typeof value === 'string' && value.includes('\0')) throw fieldRefusal(name, 'must not contain a NUL character');
    if (name === '__proto__')
      throw new Refusal('fieldInvalid', '__proto__ is not a field', {
        fieldErrors: [{ field: '__proto__', detail: 'is not a known field' }],
      });
    if (typeof value === 'object' && value !== null) pending.push([name, value]);
  };
  checkValue('body', body);
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [outer, value] = next;
    if (Array.isArray(value)) for (const item of value) checkValue(outer, item);
    else for (const [name, inner] of Object.entries(value)) checkValue(name, inner);
  }
}

function parseJson(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  checkJsonStructure(body);
  if (!isUtf8(body)) throw malformedBody();
  const text = body.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformedBody();
  }
  if (forbiddenText.test(text)) checkForbidden(value);
  return value;
}

/** The client that sends a body. Sites take turns with long bodies. */
interface Sender {
  readonly ip: string;
  readonly socket: EventEmitter;
}

/** Receives the parsed value, or the error. */
type Done = (cause: Error | null, value?: unknown) => void;

/**
 * Returns a parser for JSON bodies. It parses long bodies one at a time, sites in turn, with a pause after each body, so
 * that many long bodies do not delay other requests.
 */
export function jsonBodyParser(): (sender: Sender, body: Buffer, done: Done) => void {
  const longBodies = turns({ concurrency: 1, maxWaiting, refusal: () => new Refusal('bodiesBusy', undefined, { retryAfter }) });

  async function parseInTurn({ ip, socket }: Sender, body: Buffer): Promise<unknown> {
    const clientGone = new AbortController();
    const onClose = () => clientGone.abort();
    socket.once('close', onClose);
    const [site, network] = [siteOf(ip), narrowNetworkOf(ip)];
    try {
      return await runWithRest(longBodies, [site, network], clientGone.signal, () => parseJson(body), [site]);
    } finally {
      socket.off('close', onClose);
    }
  }
  return (sender, body, done) => {
    if (body.length >= longBody)
      return void parseInTurn(sender, body).then(
        (value) => done(null, value),
        (cause: Error) => done(cause),
      );
    // No promise here: it would cost as much as parsing a small body.
    let value: unknown;
    try {
      value = parseJson(body);
    } catch (cause) {
      return done(cause instanceof Error ? cause : malformedBody());
    }
    done(null, value);
  };
}
