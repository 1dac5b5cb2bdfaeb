import { Ajv, type ErrorObject } from 'ajv';
import { closest, distance } from 'fastest-levenshtein';
import Type, { type TSchema } from 'typebox';
import { parseInstant } from '#core/instant.ts';
import { type FieldError, fieldRefusal, Refusal } from '#core/messages.ts';
import { patternWords } from '#core/records/patterned.ts';

// Nothing coerced, filled in or dropped; all faults at once (decisions.md, Bodies and answers).
const ajv = new Ajv({ allErrors: true, strict: false, verbose: true });
// An empty text clears a date, as null does.
ajv.addFormat('date-time', (text) => text === '' || parseInstant(text, 'firstOfDay') !== null);

/** What takes no parameters. */
export const noQuery = Type.Object({}, { additionalProperties: false });

const mostWrong = 1 / 3; // of the letters of a name that is taken for another, misspelled
const mostFieldErrors = 20; // a body of a megabyte could otherwise ask for an answer of nine
const longestShownName = 64; // characters of a name that is not known

/** The names that a schema knows. */
export function namesOf(schema: TSchema): string[] {
  const properties: unknown = Reflect.get(schema, 'properties');
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
}

/** Says that a name is not known, with the nearest one that is. A long name is cut, and gets no hint. */
function unknownName(name: string, known: readonly string[]): FieldError {
  if (name.length > longestShownName) return { field: `${name.slice(0, longestShownName)}…`, detail: 'is not known here' };
  const nearest = known.length > 0 ? closest(name, [...known]) : '';
  const hint =
    nearest !== '' && distance(name.toLowerCase(), nearest.toLowerCase()) <= Math.max(1, name.length * mostWrong)
      ? `; did you mean ${nearest}?`
      : '';
  return { field: name, detail: `is not known here${hint}` };
}

function detailOf(keyword: string, params: Readonly<Record<string, unknown>>, message: string | undefined): string {
  if (keyword === 'type') return `must be ${[params['type']].flat().join(' or ')}`;
  if (keyword === 'minLength') return params['limit'] === 1 ? 'must not be empty' : `must be at least ${params['limit']} characters long`;
  if (keyword === 'maxLength') return `must be at most ${params['limit']} characters long`;
  if (keyword === 'minItems') return `must have at least ${params['limit']}`;
  if (keyword === 'maxItems') return `must have at most ${params['limit']}`;
  if (keyword === 'format') return 'must be an ISO 8601 date or date-time that exists';
  if (keyword === 'enum') return `must be one of ${[params['allowedValues']].flat().join(', ')}`;
  if (keyword === 'pattern') return patternWords(String(params['pattern']));
  return message ?? 'is not valid';
}

/** Returns the error of a field. The field of a record in a list is named by its place: `users.0.email`. */
function faultOf({ keyword, params, message, instancePath, parentSchema }: ErrorObject): FieldError {
  const place = instancePath.slice(1).replaceAll('/', '.');
  const below = (name: string) => (place === '' ? name : `${place}.${name}`);
  if (keyword === 'required') return { field: below(String(params['missingProperty'])), detail: 'is required' };
  if (keyword !== 'additionalProperties') return { field: place || 'body', detail: detailOf(keyword, params, message) };
  const { field, detail } = unknownName(String(params['additionalProperty']), namesOf(parentSchema ?? {}));
  return { field: below(field), detail };
}

/** 400 that names the first fields at fault, and counts the rest. */
function fieldErrors<E>(errors: readonly E[], describe: (error: E) => FieldError, most = mostFieldErrors): Refusal {
  const fieldErrors = errors.slice(0, most).map(describe);
  const words = fieldErrors.slice(0, mostFieldErrors).map(({ field, detail }) => `${field} ${detail}`);
  const more = errors.length > words.length ? `; and ${errors.length - words.length} more` : '';
  return new Refusal('fieldInvalid', words.join('; ') + more, { fieldErrors });
}

/** Refuses names that are not known. @throws 400 */
export function checkNames(names: readonly string[], known: readonly string[]): void {
  if (names.length === 0) return;
  const knownNames = new Set(known);
  const unknown = names.filter((name) => !knownNames.has(name));
  if (unknown.length > 0) throw fieldErrors(unknown, (name) => unknownName(name, known));
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function propertyOf(schema: TSchema, name: string): TSchema | undefined {
  const properties: unknown = Reflect.get(schema, 'properties');
  const property: unknown = isObject(properties) ? Reflect.get(properties, name) : undefined;
  return isObject(property) ? property : undefined;
}

/** Returns a check of sizes that ajv would make an error of each name or item for: it throws 400. */
function sizeCheck(schema: TSchema): (value: unknown) => void {
  const known = namesOf(schema);
  const lists = known.flatMap((name) => {
    const { maxItems, items } = Object(propertyOf(schema, name));
    return isObject(items) ? [{ name, maxItems, checkItem: sizeCheck(items) }] : [];
  });
  return (value) => {
    if (!isObject(value) || Array.isArray(value)) return;
    const names = Object.keys(value);
    if (names.length > known.length + mostFieldErrors) checkNames(names, known);
    for (const { name, maxItems, checkItem } of lists) {
      const list: unknown = Reflect.get(value, name);
      if (!Array.isArray(list)) continue;
      if (list.length > maxItems) throw fieldRefusal(name, `must have at most ${maxItems}`);
      for (const item of list) checkItem(item);
    }
  };
}

/**
 * Refuses what a schema does not let through, naming the fields at fault.
 * @param most field errors that one answer names
 */
export function validator(schema: TSchema, most = mostFieldErrors): (value: unknown) => void {
  const validate = ajv.compile(schema);
  const checkSize = sizeCheck(schema);
  return (value) => {
    checkSize(value);
    if (!validate(value)) throw fieldErrors(validate.errors ?? [], faultOf, most);
  };
}

function typeOf(schema: TSchema, name: string): unknown {
  return Reflect.get(propertyOf(schema, name) ?? {}, 'type');
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
  const parameters = Map.groupBy(new URLSearchParams(url.slice(begin + 1)), ([name]) => name);
  for (const [name, pairs] of parameters) {
    const texts = pairs.map(([, text]) => text);
    if (texts.some((text) => text.includes('\0'))) throw fieldRefusal(name, 'must not hold a NUL character');
    if (repeatable.includes(name)) query[name] = texts;
    else if (texts.length > 1)
      throw new Refusal('fieldInvalid', `${name} stands more than once`, { fieldErrors: [{ field: name, detail: 'must stand once' }] });
    else query[name] = fromText(texts[0] ?? '', typeOf(schema, name));
  }
  return query;
}
