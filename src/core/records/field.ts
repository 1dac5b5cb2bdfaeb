import Type, { type Static, type TProperties, type TSchema } from 'typebox';

/** A single line: no control characters, no unpaired surrogates. */
const singleLine = '^[^\\p{Cc}\\p{Cs}]*$';
/** Text of several lines: line breaks and tabs are the only control characters. */
const multipleLines = '^(?:[^\\p{Cc}\\p{Cs}]|[\\n\\r\\t])*$';

/** Longest texts of fields in characters; `ranges` is the largest number of address ranges. */
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

interface TextOptions {
  readonly description: string;
  readonly minLength?: number;
}

/** Returns the schema of a text of one line with at most `maxLength` characters. */
export const lineOf = (maxLength: number, options: TextOptions) => Type.String({ maxLength, pattern: singleLine, ...options });

/** Returns the schema of a text of one line that must not be empty. */
export const requiredLine = (maxLength: number, description: string) => lineOf(maxLength, { minLength: 1, description });

/**
 * Returns the schema of a list in a text. The real limit applies to the shortest spelling of the list (`listLength` in
 * list-text.ts). A list in a response may have more spaces and quotes, and a request may repeat it, so this schema allows more.
 */
export const listOf = (description: string) => lineOf(4 * limits.list, { description });

/** Returns the schema of a free text, in which line breaks are allowed. */
export const freeText = (description: string) => Type.String({ maxLength: limits.text, pattern: multipleLines, description });

/** Returns the schema of a boolean. */
export const flag = (description: string) => Type.Boolean({ description });

/** Returns the schema of a record's id. Its maximum is 2^53 - 1, since JavaScript rounds larger JSON numbers. */
export const recordId = (description: string) => Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description });

/** Returns the schema of a count. */
export const count = (description: string) => Type.Integer({ minimum: 0, description });

/** Returns the schema of a limit of bytes or files. */
export const limitField = (description: string) => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description });

/** Returns the schema of an instant. Responses use RFC 3339 in UTC; requests may use any form that `parseInstant` accepts. */
export const instant = (description: string) => Type.String({ format: 'date-time', description });

/** Returns a schema that also allows null. In a response, null means that the field is not set; in a request, it clears the field. */
export function orNull<S extends TSchema>(schema: S) {
  const type: unknown = Reflect.get(schema, 'type');
  return Type.Unsafe<Static<S> | null>({ ...schema, type: [type, 'null'] });
}

/** Schema of the version of a record, as used in If-Match. Every record in a response has it. */
export const etag = Type.String({ description: 'Version of the record, for use in `If-Match`.' });

type Body<P extends TProperties, R extends keyof P, O extends keyof P> = { [K in R]: Static<P[K]> } & { [K in O]?: Static<P[K]> | null };

/**
 * Returns the schema of a request body.
 * @param fields schemas by field
 * @param required fields that must be present
 * @param optional fields that may be absent, or null to clear them
 */
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

/** Fields that say who created and last changed a record, and when. API keys and tenants have their own. */
export const stampFields = {
  createdOwner: lineOf(limits.name, { description: 'Key or operator that created the record.' }),
  updatedOwner: lineOf(limits.name, { description: 'Key or operator that last changed the record.' }),
  createDateTime: instant('When the record was created.'),
  updateDateTime: instant('When the record was last changed.'),
};
