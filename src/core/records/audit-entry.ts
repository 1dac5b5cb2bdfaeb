import Type, { type Static } from 'typebox';

/** Outcomes of an action. `begun`: the action is pending. */
export const outcomes = ['done', 'refused', 'failed', 'begun'] as const;
export type Outcome = (typeof outcomes)[number];

const nullableSchema = (type: 'string' | 'integer', description: string) => ({ type: [type, 'null'], description });
const nullableText = (description: string) => Type.Unsafe<string | null>(nullableSchema('string', description));
const nullableInteger = (description: string) => Type.Unsafe<number | null>(nullableSchema('integer', description));

/** An audit entry in the responses of audit/search and in exports. */
export const AuditEntry = Type.Object({
  id: Type.Integer({ description: 'Id of the entry.' }),
  dateTime: Type.String({ format: 'date-time', description: 'When the action took place.' }),
  tid: Type.Integer({ description: 'Tenant.' }),
  actor: Type.String({
    description: 'Name of the key, operator or visitor. Empty: an anonymous visitor, or a command on the server (actorKind `system`).',
  }),
  actorKind: Type.Enum(['key', 'operator', 'visitor', 'system'], { description: 'Kind of the actor.' }),
  address: Type.String({ description: 'IP address of the client.' }),
  action: Type.String({ description: 'The operation (`share/add`), or the action of a visitor (`download`).' }),
  outcome: Type.Enum([...outcomes], { description: 'Outcome of the action.' }),
  shareId: nullableInteger('Id of the share.'),
  shareTitle: Type.String({ description: 'Title of the share at that time.' }),
  viewId: Type.String({ description: 'Link that was used.' }),
  path: Type.String({ description: 'Path relative to the share.' }),
  bytes: nullableInteger('Number of bytes sent or received.'),
  before: nullableText('Previous state as JSON, with secrets masked. Unchanged texts of more than 1000 characters are left out.'),
  after: nullableText(
    'New state as JSON, with secrets masked; of a refused action, the reason. Unchanged texts of more than 1000 characters are left out.',
  ),
  requestId: Type.String({ description: 'X-Request-Id of the request.' }),
  count: Type.Integer({ minimum: 1, description: 'Number of equal actions that this entry stands for.' }),
});
export type AuditEntry = Static<typeof AuditEntry>;
