import type { TSchema } from 'typebox';
import { messages } from '#core/messages.ts';
import { CallerRecord, FirstOperator, OperatorSignIn, ProviderAddress, SignInMethods } from '#core/records/operator.ts';
import { PasskeyRequest } from '#core/records/passkey.ts';
import { CurrentPassword } from '#core/records/second-factor.ts';
import { isChange, type Operation } from '#features/operation.ts';
import { Login, LoginResponse } from '#http/management/login-route.ts';
import { changeResponse } from '#http/management/management-api.ts';
import { type Components, components } from './components.ts';
import { exampleOf } from './examples.ts';
import { linkPaths } from './link-paths.ts';

const json = (schema: object) => ({ 'application/json': { schema } });
const problemResponse = {
  description: 'The request was refused or failed. The body is a problem document (RFC 9457).',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

const problem = {
  type: 'object',
  description: 'A refusal or failure (RFC 9457). `code` and `messageId` are stable; `errors` names the invalid fields.',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'messageId', 'timestamp', 'message', 'errorType'],
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string' },
    code: { type: 'string', enum: Object.entries(messages).flatMap(([code, { status }]) => (status >= 400 ? [code] : [])) },
    messageId: { type: 'integer' },
    timestamp: { type: 'string', format: 'date-time' },
    message: { type: 'string' },
    errorType: { type: 'string' },
    errors: {
      type: 'array',
      items: { type: 'object', required: ['field', 'detail'], properties: { field: { type: 'string' }, detail: { type: 'string' } } },
    },
    passkey: { ...PasskeyRequest, description: 'Only with `secondFactorNeeded` of `operator/signIn`, if the operator has a passkey.' },
  },
};

const propertiesOf = (schema: TSchema): [string, unknown][] => Object.entries(Reflect.get(schema, 'properties') ?? {});

function queryParameters(schema: TSchema) {
  const required: unknown = Reflect.get(schema, 'required');
  const requiredNames: unknown[] = Array.isArray(required) ? required : [];
  return propertiesOf(schema).map(([name, property]) => ({ name, in: 'query', required: requiredNames.includes(name), schema: property }));
}

const changeParameters = [{ $ref: '#/components/parameters/dryRun' }, { $ref: '#/components/parameters/idempotencyKey' }];

/** Returns the name of an operation in Pascal case: `ShareSearch` for `share/search`. */
const toPascalCase = (name: string) =>
  name
    .split('/')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');

function responseSchema(operation: Operation, registry: Components): object {
  if (!isChange(operation))
    return 'read' in operation ? registry.addSchema(operation.response, `${toPascalCase(operation.name)}Response`) : { type: 'string' };
  return registry.addSchema(changeResponse(operation), operation.responseFields ? `${toPascalCase(operation.name)}Response` : 'Success');
}

function pathItem(operation: Operation, registry: Components) {
  const inQuery = operation.method === 'GET';
  const isChangeOperation = isChange(operation);
  const ifMatch = isChangeOperation && operation.target ? [{ $ref: '#/components/parameters/ifMatch' }] : [];
  return {
    [operation.method.toLowerCase()]: {
      operationId: operation.name.replace('/', '_'),
      tags: [operation.name.split('/')[0]],
      summary: operation.summary,
      description: `Role: ${operation.role}.`,
      parameters: [...(inQuery ? queryParameters(operation.body) : []), ...(isChangeOperation ? changeParameters : []), ...ifMatch],
      ...(inQuery ? {} : { requestBody: { required: !isOptional(operation.body), content: withExample(operation.body) } }),
      responses: { 200: { description: 'Success.', content: json(responseSchema(operation, registry)) }, default: problemResponse },
    },
  };
}

function isOptional(schema: TSchema): boolean {
  const required: unknown = Reflect.get(schema, 'required');
  return !Array.isArray(required) || required.length === 0;
}

const withExample = (body: TSchema) => ({ 'application/json': { schema: body, example: exampleOf(body) } });

const signInPath = (operationId: string, summary: string, body: TSchema | null, response: TSchema | null) => ({
  post: {
    operationId,
    tags: [operationId.split('_')[0]],
    summary,
    security: [],
    ...(body ? { requestBody: { required: true, content: withExample(body) } } : {}),
    responses: {
      [response ? 200 : 204]: { description: 'Success.', ...(response ? { content: json(response) } : {}) },
      default: problemResponse,
    },
  },
});

const providerPath = (operationId: string, summary: string) => ({
  get: {
    ...{ operationId, tags: ['operator'], summary, security: [] },
    responses: { 303: { description: 'Redirects the browser.' }, default: problemResponse },
  },
});

const signInPaths = {
  '/api/v1/login': signInPath('login', 'Signs in with the name of a key and the key; returns a Bearer token.', Login, LoginResponse),
  '/api/v1/operator/signIn': signInPath(
    'operator_signIn',
    "Signs an operator in and sets the console's cookie, which every operation accepts in place of a key. With the cookie, a POST or DELETE also needs the header Origin, or `Sec-Fetch-Site: same-origin`.",
    OperatorSignIn,
    CallerRecord,
  ),
  '/api/v1/operator/signOut': signInPath('operator_signOut', "Ends the session of the console's cookie.", null, null),
  '/api/v1/operator/first': signInPath(
    'operator_first',
    'Creates an admin of tenant 1 with the address that Postern printed when it started. Works once, while tenant 1 has no admin.',
    FirstOperator,
    CallerRecord,
  ),
  '/api/v1/operator/signInMethods': {
    get: {
      ...{ operationId: 'operator_signInMethods', tags: ['operator'], security: [] },
      summary: 'Returns the ways to sign in other than with a password.',
      responses: { 200: { description: 'Success.', content: json(SignInMethods) }, default: problemResponse },
    },
  },
  '/api/v1/operator/signIn/start': providerPath(
    'operator_startSignIn',
    'Sends the browser of an operator to the provider that POSTERN_OPERATOR_OIDC_ISSUER names.',
  ),
  '/api/v1/operator/signIn/finish': providerPath(
    'operator_finishSignIn',
    'The address to which the provider sends the browser back. Signs the operator in or, after `operator/linkProvider`, connects them to the user of the provider. Then opens the console.',
  ),
  '/api/v1/operator/linkProvider': signInPath(
    'operator_linkProvider',
    "Returns an address at the provider that POSTERN_OPERATOR_OIDC_ISSUER names. When the browser comes back from there, the operator is connected to the user who has signed in. Needs the console's cookie, and the header Origin or `Sec-Fetch-Site: same-origin`; the response sets a second cookie, for this sign-in only.",
    CurrentPassword,
    ProviderAddress,
  ),
};

/** Returns the OpenAPI 3.1 document, with the paths of operations, of signing in and out, and of links. */
export function openApi(operations: readonly Operation[], publicUrl: string) {
  const registry = components();
  const paths = {
    ...registry.withRecords(signInPaths),
    ...Object.fromEntries(operations.map((operation) => [`/api/v1/${operation.name}`, pathItem(operation, registry)])),
    ...registry.withRecords(linkPaths),
  };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Postern',
      version: '1.0.0',
      description:
        'Publishes files and folders by link. Visitors sign in if the link requires it, and every request is checked against the rules of the link.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      { url: '/', description: 'This server.' },
      { url: publicUrl, description: 'Address of the links.' },
    ],
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key (`pst_…`), or a token of /api/v1/login.' },
        basic: { type: 'http', scheme: 'basic', description: 'At a link whose login profile has passwords.' },
      },
      schemas: { Problem: problem, ...registry.schemas() },
      parameters: {
        dryRun: {
          name: 'dryRun',
          in: 'query',
          schema: { type: 'boolean' },
          description: 'If true, runs all checks but changes nothing. The response has `dryRun: true`, and no fields of a new record.',
        },
        idempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          schema: { type: 'string', maxLength: 255 },
          description: 'A request that is repeated within 24 hours with the same Idempotency-Key and body gets the stored response.',
        },
        ifMatch: {
          name: 'If-Match',
          in: 'header',
          schema: { type: 'string' },
          description: "The record's ETag; 412 if the record has changed since.",
        },
      },
    },
  };
}
