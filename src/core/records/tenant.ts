import Type, { type Static } from 'typebox';
import { bodyOf, etag, instant, limits, recordId, requiredLine } from './field.ts';

/** Id of the tenant that the first start creates. Only its admins may create other tenants. */
export const firstTenant = 1;

export const tenantFields = {
  id: recordId('Id of the tenant.'),
  title: requiredLine(limits.name, 'Name of the tenant.'),
  defaultProfileId: recordId('Login profile that accessuser/add uses by default.'),
  createDateTime: instant('When the record was created.'),
};

/** A tenant in responses. */
export const Tenant = Type.Object({ ...tenantFields, etag });
export type Tenant = Static<typeof Tenant>;
export const NewTenant = bodyOf(tenantFields, ['title'], []);
