import type { TSchema } from 'typebox';
import { AccessUser } from '#core/records/access-user.ts';
import { ApiKey } from '#core/records/api-key.ts';
import { AuditEntry } from '#core/records/audit-entry.ts';
import { Location } from '#core/records/location.ts';
import { LoginProfile } from '#core/records/login-profile.ts';
import { Operator, WhoCalls } from '#core/records/operator.ts';
import { Share } from '#core/records/share.ts';
import { Tenant } from '#core/records/tenant.ts';
import { Listing, PortalVisit, Visit } from '#core/records/visit.ts';

/** Every record that an answer holds, under the name that generated clients give it. */
const records: Readonly<Record<string, TSchema>> = {
  Share,
  AccessUser,
  LoginProfile,
  Location,
  ApiKey,
  AuditEntry: AuditEntry,
  Operator,
  Caller: WhoCalls,
  Tenant,
  Visit,
  PortalVisit,
  Listing,
};

/** Schemas under a name, as the document refers to them. */
export interface Components {
  /** Refers to a schema under a name; what lies in it is described once, in the components. */
  refer(schema: object, name: string): object;
  /** Refers to the records that a schema is or holds. */
  withRecords(schema: object): object;
  readonly schemas: () => Readonly<Record<string, object>>;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

export function components(): Components {
  const named = new Map<object, string>(Object.entries(records).map(([name, schema]) => [schema, name]));
  const schemas: Record<string, object> = { ...records };
  const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });

  function replace(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(replace);
    if (!isObject(value)) return value;
    const name = named.get(value);
    if (name !== undefined) return reference(name);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, replace(inner)]));
  }
  const withRecords = (schema: object): object => {
    const replaced = replace(schema);
    return isObject(replaced) ? replaced : schema;
  };
  return {
    withRecords,
    refer(schema, name) {
      const known = named.get(schema);
      if (known !== undefined) return reference(known);
      schemas[name] ??= withRecords(schema);
      return reference(name);
    },
    schemas: () => schemas,
  };
}
