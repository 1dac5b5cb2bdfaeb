import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { closest, distance } from 'fastest-levenshtein';
import Type, { type TSchema } from 'typebox';
import { parseInstant } from '#core/instant.ts';
import { type FieldError, fieldRefusal, Refusal } from '#core/messages.ts';
import { patternErrorText } from '#core/records/patterned.ts';

// Values are not coerced, completed or dropped, and all errors are reported at once. The schemas themselves are not validated: to compile
// the schema of schemas would delay the first request by 50 ms.
const ajv = new Ajv({ allErrors: true, strict: false, verbose: true, meta: false, validateSchema: false });
// An empty string clears a date, as null does.
ajv.addFormat('date-time', (text) => text === '' || parseInstant(text, 'firstOfDay') !== null);

/** The schema of a request without parameters. */
export const NoParameters = Type.Object({}, { additionalProperties: false });

const maxMisspelled = 1 / 3; // fraction of a name's letters that may differ from the suggested name
const maxFieldErrors = 20; // a body of one megabyte could otherwise cause a response of nine megabytes
const maxShownName = 64; // characters of an unknown name

/** Returns the names of a schema's properties. */
export function propertyNamesOf(schema: TSchema): string[] {
  const properties: unknown = Reflect.get(schema, 'properties');
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
}

/** Returns the error of an unknown name, with the nearest known name as a hint. A long name is truncated and gets no hint. */
function unknownName(name: string, knownNames: readonly string[]): FieldError {
  if (name.length > maxShownName) return { field: `${name.slice(0, maxShownName)}…`, detail: 'is not a known field' };
  const nearest = knownNames.length > 0 ? closest(name, [...knownNames]) : '';
  const hint =
    nearest !== '' && distance(name.toLowerCase(), nearest.toLowerCase()) <= Math.max(1, name.length * maxMisspelled)
      ? `; did you mean ${nearest}?`
      : '';
  return { field: name, detail: `is not a known field${hint}` };
}

function detailOf(keyword: string, params: Readonly<Record<string, unknown>>, message: string | undefined): string {
  if (keyword === 'type') return `must be ${[params['type']].flat().join(' or ')}`;
  if (keyword === 'minLength') return params['limit'] === 1 ? 'must not be empty' : `must be at least ${params['limit']} characters long`;
  if (keyword === 'maxLength') return `must be at most ${params['limit']} characters long`;
  if (keyword === 'minItems') return `must have at least ${params['limit']} entries`;
  if (keyword === 'maxItems') return `must have at most ${params['limit']} entries`;
  if (keyword === 'format') return 'must be an existing date or date-time in ISO 8601 format';
  if (keyword === 'enum') return `must be one of ${[params['allowedValues']].flat().join(', ')}`;
  if (keyword === 'pattern') return patternErrorText(String(params['pattern']));
  return message ?? 'is not valid';
}

/** Returns the error of a field. The path of a field in a list includes its index: `users.0.email`. */
function fieldErrorOf({ keyword, params, message, instancePath, parentSchema }: ErrorObject): FieldError {
  const path = instancePath.slice(1).replaceAll('/', '.');
  const childPath = (name: string) => (path === '' ? name : `${path}.${name}`);
  if (keyword === 'required') return { field: childPath(String(params['missingProperty'])), detail: 'is required' };
  if (keyword !== 'additionalProperties') return { field: path || 'body', detail: detailOf(keyword, params, message) };
  const { field, detail } = unknownName(String(params['additionalProperty']), propertyNamesOf(parentSchema ?? {}));
  return { field: childPath(field), detail };
}

/** Returns a 400 that names the first invalid fields, and counts the others. */
function invalidFields<E>(errors: readonly E[], describe: (error: E) => FieldError, max = maxFieldErrors): Refusal {
  const fieldErrors = errors.slice(0, max).map(describe);
  const texts = fieldErrors.slice(0, maxFieldErrors).map(({ field, detail }) => `${field} ${detail}`);
  const more = errors.length > texts.length ? `; and ${errors.length - texts.length} more` : '';
  return new Refusal('fieldInvalid', texts.join('; ') + more, { fieldErrors });
}

/** Refuses unknown names. @throws Refusal (400) */
export function checkNames(names: readonly string[], knownNames: readonly string[]): void {
  if (names.length === 0) return;
  const knownSet = new Set(knownNames);
  const unknownNames = names.filter((name) => !knownSet.has(name));
  if (unknownNames.length > 0) throw invalidFields(unknownNames, (name) => unknownName(name, knownNames));
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function propertyOf(schema: TSchema, name: string): TSchema | undefined {
  const properties: unknown = Reflect.get(schema, 'properties');
  const property: unknown = isObject(properties) ? Reflect.get(properties, name) : undefined;
  return isObject(property) ? property : undefined;
}

/** Returns a function that throws a 400 if an object has too many names or a list too many items: Ajv would create too many errors. */
function sizeCheck(schema: TSchema): (value: unknown) => void {
  const knownNames = propertyNamesOf(schema);
  const lists = knownNames.flatMap((name) => {
    const { maxItems, items } = Object(propertyOf(schema, name));
    return isObject(items) ? [{ name, maxItems, checkItem: sizeCheck(items) }] : [];
  });
  return (value) => {
    if (!isObject(value) || Array.isArray(value)) return;
    const names = Object.keys(value);
    if (names.length > knownNames.length + maxFieldErrors) checkNames(names, knownNames);
    for (const { name, maxItems, checkItem } of lists) {
      const list: unknown = Reflect.get(value, name);
      if (!Array.isArray(list)) continue;
      if (list.length > maxItems) throw fieldRefusal(name, `must have at most ${maxItems} entries`);
      for (const item of list) checkItem(item);
    }
  };
}

/**
 * Returns a check that refuses values that a schema does not allow, and names the invalid fields. The schema is compiled at the first
 * check: a start would spend a fifth of its time on the schemas of all operations.
 * @param max maximum number of field errors in a response
 */
export function validator(schema: TSchema, max = maxFieldErrors): (value: unknown) => void {
  let validate: ValidateFunction | undefined;
  const checkSize = sizeCheck(schema);
  return (value) => {
    checkSize(value);
    validate ??= ajv.compile(schema);
    if (!validate(value)) throw invalidFields(validate.errors ?? [], fieldErrorOf, max);
  };
}

function typeOf(schema: TSchema, name: string): unknown {
  return Reflect.get(propertyOf(schema, name) ?? {}, 'type');
}

/** Converts a query's text to an integer or boolean if the schema allows one. Any other text is unchanged: the schema may refuse it. */
function parseText(text: string, type: unknown): unknown {
  const types: unknown[] = [type].flat();
  if (types.includes('integer') && /^-?\d{1,16}$/.test(text)) return Number(text);
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/**
 * Returns the query parameters of a URL, with the types of a schema.
 * @param repeatable names that may occur more than once: their values become a list
 * @throws Refusal (400) for a repeated parameter, and for a NUL character, which no stored text contains and PostgreSQL cannot store
 */
export function readQuery(url: string, schema: TSchema, repeatable: readonly string[] = []): Record<string, unknown> {
  const queryStart = url.indexOf('?');
  // No prototype: a parameter may have the name __proto__.
  const query: Record<string, unknown> = Object.create(null);
  if (queryStart < 0) return query;
  const parameters = Map.groupBy(new URLSearchParams(url.slice(queryStart + 1)), ([name]) => name);
  for (const [name, pairs] of parameters) {
    const texts = pairs.map(([, text]) => text);
    if (texts.some((text) => text.includes('\0'))) throw fieldRefusal(name, 'must not contain a NUL character');
    if (repeatable.includes(name)) query[name] = texts;
    else if (texts.length > 1)
      throw new Refusal('fieldInvalid', `${name} occurs more than once`, {
        fieldErrors: [{ field: name, detail: 'must occur only once' }],
      });
    else query[name] = parseText(texts[0] ?? '', typeOf(schema, name));
  }
  return query;
}
