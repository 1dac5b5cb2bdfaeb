import type { TSchema } from 'typebox';
import { AccessUser } from '#core/records/access-user.ts';
import { ApiKey } from '#core/records/api-key.ts';
import { AuditEntry } from '#core/records/audit-entry.ts';
import { Location } from '#core/records/location.ts';
import { LoginProfile } from '#core/records/login-profile.ts';
import { CallerRecord, Operator } from '#core/records/operator.ts';
import { Share } from '#core/records/share.ts';
import { Tenant } from '#core/records/tenant.ts';
import { Listing, PortalVisit, Visit } from '#core/records/visit.ts';

/** Records and other schemas of responses, under the names that generated clients give them. */
const records: Readonly<Record<string, TSchema>> = {
  Share,
  AccessUser,
  LoginProfile,
  Location,
  ApiKey,
  AuditEntry,
  Operator,
  Caller: CallerRecord,
  Tenant,
  Visit,
  PortalVisit,
  Listing,
};

export interface Components {
  /** Returns a reference to a schema. Adds a schema without a name to the components, under `name`. */
  addSchema(schema: object, name: string): object;
  /** Returns a schema with references in place of its records. */
  withRecords(schema: object): object;
  readonly schemas: () => Readonly<Record<string, object>>;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Creates the named schemas, with all records. */
export function components(): Components {
  const names = new Map<object, string>(Object.entries(records).map(([name, schema]) => [schema, name]));
  const schemas: Record<string, object> = { ...records };
  const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });

  function replace(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(replace);
    if (!isObject(value)) return value;
    const name = names.get(value);
    if (name !== undefined) return reference(name);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, replace(inner)]));
  }
  const withRecords = (schema: object): object => {
    const result = replace(schema);
    return isObject(result) ? result : schema;
  };
  return {
    withRecords,
    addSchema(schema, name) {
      const existing = names.get(schema);
      if (existing !== undefined) return reference(existing);
      schemas[name] ??= withRecords(schema);
      return reference(name);
    },
    schemas: () => schemas,
  };
}
