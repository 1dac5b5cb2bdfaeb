import { Ajv, type ErrorObject } from 'ajv';
import { closest, distance } from 'fastest-levenshtein';
import Type, { type TSchema } from 'typebox';
import { parseInstant } from '#core/instant.ts';
import { type FieldFault, fieldRefusal, Refusal } from '#core/messages.ts';

// Nothing coerced, filled in or dropped; all faults at once (decisions.md, Bodies and answers).
const ajv = new Ajv({ allErrors: true, strict: false });
// An empty text clears a date, as null does.
ajv.addFormat('date-time', (text) => text === '' || parseInstant(text, 'firstOfDay') !== null);

/** What takes no parameters. */
export const noQuery = Type.Object({}, { additionalProperties: false });

const furthestHint = 4; // letters that a misspelled name may differ by

/** The names that a schema knows. */
export function namesOf(schema: TSchema): string[] {
  const properties: unknown = Reflect.get(schema, 'properties');
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
}

/** Says that a name is not known, with the nearest one that is. */
export function unknownName(name: string, known: readonly string[]): FieldFault {
  const nearest = known.length > 0 ? closest(name, [...known]) : '';
  const hint = nearest !== '' && distance(name.toLowerCase(), nearest.toLowerCase()) <= furthestHint ? `; did you mean ${nearest}?` : '';
  return { field: name, detail: `is not known here${hint}` };
}

function detailOf({ keyword, params, message }: ErrorObject): string {
  if (keyword === 'type') return `must be ${[params['type']].flat().join(' or ')}`;
  if (keyword === 'minLength') return params['limit'] === 1 ? 'must not be empty' : `must be at least ${params['limit']} characters long`;
  if (keyword === 'maxLength') return `must be at most ${params['limit']} characters long`;
  if (keyword === 'format') return 'must be an ISO 8601 date or date-time that exists';
  if (keyword === 'enum') return `must be one of ${[params['allowedValues']].flat().join(', ')}`;
  if (keyword === 'pattern')
    return String(params['pattern']).includes('\\p{Cc}')
      ? 'must be plain text: no control characters, and nothing that the field rules out'
      : `must match ${params['pattern']}`;
  return message ?? 'is not valid';
}

function faultOf(error: ErrorObject, known: readonly string[]): FieldFault {
  if (error.keyword === 'additionalProperties') return unknownName(String(error.params['additionalProperty']), known);
  if (error.keyword === 'required') return { field: String(error.params['missingProperty']), detail: 'is required' };
  return { field: error.instancePath.slice(1).replaceAll('/', '.') || 'body', detail: detailOf(error) };
}

/** Refuses what a schema does not let through, naming every field at fault. */
export function validator(schema: TSchema): (value: unknown) => void {
  const validate = ajv.compile(schema);
  const known = namesOf(schema);
  return (value) => {
    if (validate(value)) return;
    const faults = (validate.errors ?? []).map((error) => faultOf(error, known));
    throw new Refusal('fieldInvalid', faults.map(({ field, detail }) => `${field} ${detail}`).join('; '), { faults });
  };
}

function typeOf(schema: TSchema, name: string): unknown {
  const properties: unknown = Reflect.get(schema, 'properties');
  const property: unknown = typeof properties === 'object' && properties !== null ? Reflect.get(properties, name) : undefined;
  return typeof property === 'object' && property !== null ? Reflect.get(property, 'type') : undefined;
}

/** In a query text is the only way to say a number or true; what is neither stays a text, and is refused as one. */
function fromText(text: string, type: unknown): unknown {
  const types: unknown[] = [type].flat();
  if (types.includes('integer') && /^-?\d{1,16}$/.test(text)) return Number(text);
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/**
 * Reads the query of an address for a schema.
 * @param repeatable names that may stand more than once: their values become a list
 * @throws 400 for a doubled parameter, and for a NUL character, which no stored text holds and PostgreSQL takes in none
 */
export function readQuery(url: string, schema: TSchema, repeatable: readonly string[] = []): Record<string, unknown> {
  const begin = url.indexOf('?');
  // Without a prototype: a parameter may be called __proto__.
  const query: Record<string, unknown> = Object.create(null);
  if (begin < 0) return query;
  const parameters = new URLSearchParams(url.slice(begin + 1));
  for (const name of new Set(parameters.keys())) {
    const texts = parameters.getAll(name);
    if (texts.some((text) => text.includes('\0'))) throw fieldRefusal(name, 'must not hold a NUL character');
    if (repeatable.includes(name)) query[name] = texts;
    else if (texts.length > 1)
      throw new Refusal('fieldInvalid', `${name} stands more than once`, { faults: [{ field: name, detail: 'must stand once' }] });
    else query[name] = fromText(texts[0] ?? '', typeOf(schema, name));
  }
  return query;
}
