const problem = {
  description: 'The request was refused. The body is a problem document (RFC 9457).',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};
export const json = (schema: object, example: object) => ({ 'application/json': { schema, example } });
export const bytes = (type: string) => ({ [type]: { schema: { type: 'string', format: 'binary' } } });
const viewId = {
  name: 'viewId',
  in: 'path',
  required: true,
  schema: { type: 'string' },
  description: 'The viewId in the address of the link or portal.',
};
export const path = {
  name: 'path',
  in: 'path',
  required: true,
  schema: { type: 'string' },
  description: 'Path below the root of the share. Each segment is percent-encoded.',
};
export const query = (name: string, schema: object, description: string) => ({ name, in: 'query', schema, description });
export const header = (name: string, description: string) => ({ name, in: 'header', schema: { type: 'string' }, description });

interface RouteDescription {
  readonly summary: string;
  readonly parameters?: readonly object[];
  readonly body?: object;
  /** The content of each successful response, by status. */
  readonly responses?: Readonly<Record<number, object>>;
  readonly redirects?: Readonly<Record<number, object>>;
}

const security = [{}, { basic: [] }]; // none, or Basic

/** Returns the description of a request at a link or portal. */
export function route(
  operationId: string,
  { summary, parameters = [], body, responses: successes = {}, redirects = {} }: RouteDescription,
) {
  const responses = Object.fromEntries(
    Object.entries(successes).map(([status, content]) => [status, { description: 'Success.', content }]),
  );
  return {
    operationId,
    tags: ['link'],
    summary,
    security,
    parameters: [viewId, ...parameters],
    ...(body ? { requestBody: { required: true, content: body } } : {}),
    responses: { ...responses, ...redirects, default: problem },
  };
}
