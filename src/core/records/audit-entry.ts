import Type, { type Static } from 'typebox';

/** Outcomes of an action. `begun`: the action is pending. */
export const outcomes = ['done', 'refused', 'failed', 'begun'] as const;
export type Outcome = (typeof outcomes)[number];

const nullableSchema = (type: 'string' | 'integer', description: string) => ({ type: [type, 'null'], description });
const nullableText = (description: string) => Type.Unsafe<string | null>(nullableSchema('string', description));
const nullableInteger = (description: string) => Type.Unsafe<number | null>(nullableSchema('integer', description));

/** An audit entry in the responses of audit/search (decisions.md, Operations beyond the interface). */
export const AuditEntry = Type.Object({
  id: Type.Integer({ description: 'Number of the row.' }),
  dateTime: Type.String({ format: 'date-time', description: 'When it happened.' }),
  tid: Type.Integer({ description: 'Tenant.' }),
  actor: Type.String({ description: 'Who did it: a key, an operator, a visitor; empty: nobody in particular.' }),
  actorKind: Type.Enum(['key', 'operator', 'visitor', 'system'], { description: 'What the actor is.' }),
  address: Type.String({ description: 'Address that it came from.' }),
  action: Type.String({ description: 'The operation (`share/add`), or what a visitor did (`download`).' }),
  outcome: Type.Enum([...outcomes], { description: 'How it ended.' }),
  shareId: nullableInteger('Share that it concerned.'),
  shareTitle: Type.String({ description: 'Title of the share at that time.' }),
  viewId: Type.String({ description: 'Link that was used.' }),
  path: Type.String({ description: "Path relative to the share's." }),
  bytes: nullableInteger('Bytes handed out or taken.'),
  before: nullableText('JSON of what was there before, secrets masked; without texts of more than 1000 characters that stayed the same.'),
  after: nullableText('JSON of what is there now, secrets masked; without such texts.'),
  requestId: Type.String({ description: 'X-Request-Id of the request.' }),
  count: Type.Integer({ minimum: 1, description: 'How many equal ones this row stands for.' }),
});
export type AuditEntry = Static<typeof AuditEntry>;
