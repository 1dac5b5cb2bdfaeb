import type { TSchema } from 'typebox';

/** Example values by field name, for all schemas. */
const exampleValues: Readonly<Record<string, unknown>> = {
  id: 1,
  tid: 1,
  authId: 2,
  authenticationId: 2,
  loginProfileId: 2,
  title: 'Quarter 4',
  description: 'Reports of the last quarter',
  startupMessage: 'Please read the notes first.',
  location: 'local',
  path: '/reports',
  username: 'ann',
  firstName: 'Ann',
  lastName: 'Lee',
  secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
  code: '287082',
  challengeToken: 'v1.c2VhbGVk',
  credential: {
    id: 'Q3JlZGVudGlhbA',
    response: { clientDataJSON: 'e30', attestationObject: 'o2M', authenticatorData: 'SZYN', signature: 'MEUC' },
  },
  email: 'ann@example.com',
  notifyEmails: 'owner@example.com',
  userNames: 'ann, bob',
  groupNames: 'auditors',
  userPassword: 'correct horse battery',
  confirmPassword: 'correct horse battery',
  currentPassword: 'the current password',
  password: 'correct horse battery',
  secretkey: 'pst_…',
  key: 'pst_…',
  token: 'pst_t_…',
  name: 'reports',
  kind: 'local',
  configuration: '{"path":"/srv/files"}',
  role: 'editor',
  viewId: 'dGhlIGxpbmsgb2YgYSBzaGFyZQ',
  typeId: 3,
  lang: 'en',
  ipRange: '203.0.113.0/24',
  ids: [1, 2],
  validityStartDate: '2026-01-01T00:00:00.000Z',
  validityEndDate: '2026-12-31T00:00:00.000Z',
  expiryDateTime: '2026-12-31T00:00:00.000Z',
  fromDate: '2026-01-01T00:00:00.000Z',
  toDate: '2026-12-31T00:00:00.000Z',
  at: '2026-06-30T12:00:00.000Z',
  address: '203.0.113.7',
  action: 'download',
  certificate: 'MIIF…',
  file: 'JVBERi0xLjcK…',
  timestampUrl: 'https://tsa.example.com/',
  subject: 'CN=Ann Lee, O=Acme',
  issuer: 'CN=Acme CA',
  serialNumber: '3D907B0E2289EAE8',
  validFrom: '2026-01-01T00:00:00.000Z',
  validTo: '2027-01-01T00:00:00.000Z',
};

const isSchema = (value: unknown): value is TSchema => typeof value === 'object' && value !== null;
const member = (schema: TSchema, name: string): unknown => Reflect.get(schema, name);

const arrayExample = (items: unknown) => (isSchema(items) && member(items, 'type') === 'object' ? [exampleOf(items)] : []);

function plainExample(schema: TSchema): unknown {
  const options: unknown = member(schema, 'enum');
  if (Array.isArray(options)) return options[0];
  switch ([member(schema, 'type')].flat()[0]) {
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return true;
    case 'array':
      return arrayExample(member(schema, 'items'));
    case 'object':
      return exampleOf(schema);
    default:
      return '';
  }
}

/** Returns an example of a body: its required fields or, if there are none, those of id, title, description and typeId that it has. */
export function exampleOf(schema: TSchema): Record<string, unknown> {
  const properties: unknown = member(schema, 'properties');
  const required: unknown = member(schema, 'required');
  const fields = isSchema(properties) ? Object.entries(properties) : [];
  const names = Array.isArray(required) && required.length > 0 ? required : ['id', 'title', 'description', 'typeId'];
  return Object.fromEntries(
    fields.flatMap(([name, field]) =>
      names.includes(name) && isSchema(field) ? [[name, name in exampleValues ? exampleValues[name] : plainExample(field)]] : [],
    ),
  );
}
