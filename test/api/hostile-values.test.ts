import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUsersProfile, newShare, startPostern } from '../start.ts';

const values: readonly unknown[] = [
  null,
  '',
  'x',
  '\u0000',
  '\ud800',
  '"',
  '%',
  "';--",
  0,
  -1,
  1,
  1.5,
  2 ** 60,
  1e308,
  true,
  [],
  [[]],
  {},
  { $gt: '' },
  'a'.repeat(70_000),
  '٣',
  '/',
  '2026-01-01',
  '{"a":{"b":[]}}',
];

test('unusual values of fields cause neither a server error nor a response with internal details', async (t) => {
  const postern = await startPostern(t);
  const { paths } = (await postern.visit('/openapi.json')).body;
  const failures: string[] = [];
  for (const [path, methods] of Object.entries<
    Record<string, { parameters?: { name?: string }[]; requestBody?: { content: Record<string, { schema: { properties: object } }> } }>
  >(paths)) {
    const name = /^\/api\/v1\/(.+)$/.exec(path)?.[1];
    if (!name || name === 'login' || name === 'audit/export') continue;
    const profile = await createUsersProfile(postern, []);
    const base = {
      ...newShare(),
      id: profile.id,
      username: 'ann',
      active: true,
      authId: 1,
      name: 'n',
      role: 'reader',
      kind: 'local',
      configuration: '',
      location: 'local',
      userPassword: 'long enough words',
      confirmPassword: 'long enough words',
      loginProfileId: 1,
      viewId: 'some-view-id',
      typeId: 3,
    };
    for (const [method, { parameters = [], requestBody }] of Object.entries(methods)) {
      const bodyFields = Object.keys(requestBody?.content['application/json']?.schema.properties ?? {});
      const fields = method === 'get' ? parameters.flatMap((parameter) => parameter.name ?? []) : bodyFields;
      const rest = Object.fromEntries(Object.entries(base).filter(([field]) => bodyFields.includes(field)));
      const sendValue = async (field: string, value: unknown) => {
        if (method === 'get' && String(value).length > 60_000) return; // longer than the maximum length of a request line
        const { status, body } = await postern.send(
          name,
          { ...rest, [field]: value },
          { method: method.toUpperCase(), query: method === 'get' ? {} : { dryRun: 'true' } },
        );
        if (status >= 500 || /SQLITE|node_modules|\.ts:\d/.test(JSON.stringify(body)))
          failures.push(`${name} ${field}=${JSON.stringify(value)?.slice(0, 40)}: ${status}`);
      };
      for (const field of fields) await Promise.all(values.map((value) => sendValue(field, value)));
    }
  }
  assert.deepEqual(failures, []);
});
