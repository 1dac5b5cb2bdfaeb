import type { TestPostern } from '../start.ts';

/** Adds a key with a role to the first tenant. @returns the key */
export async function addKey(postern: TestPostern, role: string, over: object = {}): Promise<string> {
  const { key } = await postern.call('apikey/add', { name: `${role} key`, role, ...over });
  return String(key);
}

/** Adds another tenant with an admin key. @returns the id of the tenant, and the key */
export async function addTenant(postern: TestPostern) {
  const { id } = await postern.call('tenant/add', { title: 'Other tenant' });
  const { key } = await postern.call('apikey/add', { name: 'theirs', role: 'admin', tid: id });
  return { tid: Number(id), key: String(key) };
}
