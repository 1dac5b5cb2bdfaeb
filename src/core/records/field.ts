import Type, { type Static, type TProperties, type TSchema } from 'typebox';

/** One line: no control characters, no half of a surrogate pair. */
const line = '^[^\\p{Cc}\\p{Cs}]*$';
/** Text of several lines: of the control characters, line breaks and tabs alone. */
const lines = '^(?:[^\\p{Cc}\\p{Cs}]|[\\n\\r\\t])*$';

export const limits = {
  name: 255,
  email: 254,
  path: 4096,
  text: 4000,
  list: 65_536,
  configuration: 65_536,
  password: 256,
  ranges: 1000,
} as const;

interface Words {
  readonly description: string;
  readonly minLength?: number;
}

/** A text of one line, at most `maxLength` characters. */
export const lineOf = (maxLength: number, words: Words) => Type.String({ maxLength, pattern: line, ...words });

/** A text that must not be empty. */
export const requiredLine = (maxLength: number, description: string) => lineOf(maxLength, { minLength: 1, description });

/**
 * A list in a text. Its limit holds for its shortest spelling (list-text.ts), which an answer is longer than by spaces
 * and quotes: what was answered is accepted again.
 */
export const listOf = (description: string) => lineOf(4 * limits.list, { description });

/** Free text, line breaks allowed. */
export const freeText = (description: string) => Type.String({ maxLength: limits.text, pattern: lines, description });

export const flag = (description: string) => Type.Boolean({ description });

/** A number that names a record; JSON numbers beyond 2^53 would be rounded. */
export const recordId = (description: string) => Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description });

export const count = (description: string) => Type.Integer({ minimum: 0, description });

/** An instant as it is answered: RFC 3339 in UTC. As it is sent, every ISO 8601 date-time or date is taken. */
export const instant = (description: string) => Type.String({ format: 'date-time', description });

/** The same field, where null says that it is not set, or clears it. */
export function orNull<S extends TSchema>(schema: S) {
  const type: unknown = Reflect.get(schema, 'type');
  return Type.Unsafe<Static<S> | null>({ ...schema, type: [type, 'null'] });
}

/** An additional field of every record: its version, as If-Match takes it. */
export const etag = Type.String({ description: 'Version of the record, as `If-Match` takes it.' });

type Body<P extends TProperties, R extends keyof P, O extends keyof P> = { [K in R]: Static<P[K]> } & { [K in O]?: Static<P[K]> | null };

/** The body of an operation: `required` fields as they are; `optional` ones may be absent, or null, which clears them. */
export function bodyOf<P extends TProperties, R extends keyof P & string, O extends keyof P & string>(
  fields: P,
  required: readonly R[],
  optional: readonly O[],
) {
  const properties: TProperties = {};
  for (const name of required) properties[name] = fields[name] ?? Type.Never();
  for (const name of optional) properties[name] = Type.Optional(orNull(fields[name] ?? Type.String()));
  return Type.Unsafe<Body<P, R, O>>(Type.Object(properties, { additionalProperties: false }));
}
