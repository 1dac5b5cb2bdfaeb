import { isUtf8 } from 'node:buffer';
import type { EventEmitter } from 'node:events';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { networkOf } from '#core/policy/address-range.ts';
import { runWithRest, turns } from '#features/turns/turns.ts';

const shortestOfTurns = 1 << 16; // bytes: what is shorter is read at once
const mostWaiting = { inner: 64, all: 192 };
const retryAfter = 2; // seconds

const malformed = () => new Refusal('bodyMalformed', 'The body is not JSON in UTF-8.');

/** What no field takes, as it can stand in a JSON text. */
const suspect = /__proto__|\\u0000/;

/** Refuses names that mean something to JavaScript, and NUL: no stored text holds one, and PostgreSQL takes it in none. */
function refuseSuspects(body: unknown): void {
  const left: [name: string, value: object][] = [];
  const look = (name: string, value: unknown) => {
    if (typeof value === 'string' && value.includes('\0')) throw fieldRefusal(name, 'must not hold a NUL character');
    if (name === '__proto__')
      throw new Refusal('fieldInvalid', '__proto__ is not a field', { fieldErrors: [{ field: '__proto__', detail: 'is not known here' }] });
    if (typeof value === 'object' && value !== null) left.push([name, value]);
  };
  look('body', body);
  for (let next = left.pop(); next; next = left.pop()) {
    const [outer, value] = next;
    if (Array.isArray(value)) for (const item of value) look(outer, item);
    else for (const [name, inner] of Object.entries(value)) look(name, inner);
  }
}

function parseJson(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw malformed();
  const text = body.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed();
  }
  if (suspect.test(text)) refuseSuspects(value);
  return value;
}

/** Who sends a body: the long ones of a network take turns. */
interface Sender {
  readonly ip: string;
  readonly socket: EventEmitter;
}

/** Takes what was read, or why it could not be. */
type Done = (cause: Error | null, value?: unknown) => void;

/**
 * Reads JSON bodies. Long ones are read one after the other, networks in turn, with a rest between two: many of them
 * hold up nobody.
 */
export function jsonBodies(): (sender: Sender, body: Buffer, done: Done) => void {
  const long = turns({ atOnce: 1, mostWaiting, refusal: () => new Refusal('bodiesBusy', undefined, { retryAfter }) });

  async function inTurn({ ip, socket }: Sender, body: Buffer): Promise<unknown> {
    const left = new AbortController();
    const leave = () => left.abort();
    socket.once('close', leave);
    const [wide, network] = [networkOf(ip, 32, 48), networkOf(ip, 32, 64)];
    try {
      return await runWithRest(long, [wide, network], left.signal, () => parseJson(body), [wide]);
    } finally {
      socket.off('close', leave);
    }
  }
  return (sender, body, done) => {
    if (body.length >= shortestOfTurns)
      return void inTurn(sender, body).then(
        (value) => done(null, value),
        (cause: Error) => done(cause),
      );
    // Without a promise, which costs a small request as much as its parsing.
    let value: unknown;
    try {
      value = parseJson(body);
    } catch (cause) {
      return done(cause instanceof Error ? cause : malformed());
    }
    done(null, value);
  };
}
