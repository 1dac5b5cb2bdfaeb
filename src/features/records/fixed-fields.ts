import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import { Refusal } from '#core/messages.ts';

/**
 * Returns the body schema of an update, extended by the fixed fields of the record. `checkFixedFields` accepts them if their values equal
 * the record's.
 * @param fixed by field: the detail of the field error if a body has another value
 */
export function withFixedFields<B extends TSchema, F extends TProperties, K extends keyof F & string>(
  body: B,
  fields: F,
  fixed: Readonly<Record<K, string>>,
) {
  const names = Object.keys(fixed);
  const schemas = Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)));
  const properties: TProperties = { ...('properties' in body ? (body.properties as TProperties) : {}) };
  for (const [name, schema] of Object.entries(schemas)) properties[name] = Type.Optional(schema);
  return Type.Unsafe<Static<B> & { [N in K]?: Static<F[N]> }>({ ...body, properties });
}

/** Checks that the fixed fields of a body equal the record's. @throws Refusal (400) with a field error for each field that differs */
export function checkFixedFields(body: object, record: object, fixed: Readonly<Record<string, string>>): void {
  const fieldErrors = Object.entries(fixed).flatMap(([field, detail]) => {
    const sent: unknown = Reflect.get(body, field);
    return sent === undefined || sent === Reflect.get(record, field) ? [] : [{ field, detail }];
  });
  if (fieldErrors.length > 0)
    throw new Refusal('fieldInvalid', fieldErrors.map(({ field, detail }) => `${field} ${detail}`).join('; '), { fieldErrors });
}
