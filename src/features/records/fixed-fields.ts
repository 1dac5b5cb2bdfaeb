import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import { Refusal } from '#core/messages.ts';

/** The body of an update, which takes further fields of the record as long as they say what the record says. */
export function withFixedFields<B extends TSchema, F extends TProperties, K extends keyof F & string>(
  body: B,
  fields: F,
  fixed: Readonly<Record<K, string>>,
) {
  const names = Object.keys(fixed);
  const extra = Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)));
  const properties: TProperties = { ...('properties' in body ? (body.properties as TProperties) : {}) };
  for (const [name, schema] of Object.entries(extra)) properties[name] = Type.Optional(schema);
  return Type.Unsafe<Static<B> & { [N in K]?: Static<F[N]> }>({ ...body, properties });
}

/** @throws 400 for each fixed field that differs from the record's, naming what changes it */
export function checkFixedFields(body: object, record: object, fixed: Readonly<Record<string, string>>): void {
  const fieldErrors = Object.entries(fixed).flatMap(([field, detail]) => {
    const sent: unknown = Reflect.get(body, field);
    return sent === undefined || sent === Reflect.get(record, field) ? [] : [{ field, detail }];
  });
  if (fieldErrors.length > 0)
    throw new Refusal('fieldInvalid', fieldErrors.map(({ field, detail }) => `${field} ${detail}`).join('; '), { fieldErrors });
}
