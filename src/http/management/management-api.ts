import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { formatInstant } from '#core/instant.ts';
import { type MessageName, messages, Refusal } from '#core/messages.ts';
import { Envelope } from '#core/records/envelope.ts';
import { appendChangeEntry } from '#features/audit/audit-entry.ts';
import { checkCaller, checkOperation } from '#features/callers/check-caller.ts';
import { checkStoreSpace } from '#features/health/check-store-space.ts';
import {
  checkNotCompleted,
  idempotentRequestOf,
  type RunningRequests,
  runOnce,
  storeResponse,
} from '#features/idempotency/stored-responses.ts';
import { type AnyChange, type Caller, type ChangeResult, callerKey, type Operation } from '#features/operation.ts';
import { checkConflictLimit, conflictLimit, countConflict, type WithinConflictLimit } from '#features/rate-limits/viewid-conflicts.ts';
import { checkTarget } from '#features/records/check-target.ts';
import type { ClientTurns } from '#features/turns/search-turns.ts';
import { maxBodyBytes } from '#http/body-limits.ts';
import { checkManagementOrigin, parseOrigin } from '#http/cross-origin.ts';
import { bodyTooLarge, sendProblem } from '#http/problem.ts';
import { type UnreadResponses, unreadResponses } from '#http/unread-responses.ts';
import { validator } from '#http/validation.ts';
import type { Ports } from '#ports/ports.ts';
import { authenticateCaller } from './authenticate-caller.ts';
import { limitChanges, type RunLimitedChange } from './change-limits.ts';
import { hasSecureSession, isSecure } from './console-cookie.ts';
import { DryRun, isDryRun } from './dry-run.ts';
import { loginRoute } from './login-route.ts';
import { parametersOf } from './operation-parameters.ts';
import { operatorProviderRoutes } from './operator-provider-routes.ts';
import { operatorRoutes } from './operator-routes.ts';
import { type ReadTurns, readTurns } from './read-turns.ts';
import { isLong, serializeOnce } from './response-text.ts';
import { type CheckInTurn, tenantChecks } from './tenant-checks.ts';

export const apiPrefix = '/api/v1';
/** Maximum bytes of responses that callers have not read yet. */
const maxUnreadBytes = { tenant: 32 << 20, all: 128 << 20 };
const streamBytes = 4 << 20; // memory of a streamed response: the rows and the text of one page, and the next page

declare module 'fastify' {
  interface FastifyRequest {
    /** Null on open routes, and while the body is still arriving. */
    caller: Caller | null;
  }
  interface FastifyContextConfig {
    operation?: Operation;
    /** The route needs no authenticated caller. */
    open?: boolean;
  }
}

/** Returns the schema of a change's response: the envelope, the fields of the operation, and `dryRun`. */
export function changeResponse(operation: AnyChange): TSchema {
  const fields: unknown = operation.responseFields ? Reflect.get(operation.responseFields, 'properties') : {};
  const properties = typeof fields === 'object' ? fields : {};
  return Type.Object({
    ...Envelope.properties,
    ...Object.fromEntries(Object.entries(properties ?? {}).map(([name, schema]) => [name, Type.Optional(schema)])),
    dryRun: DryRun,
  });
}

const envelopeOf = (messageName: MessageName, detail: string | undefined, now: number) => ({
  timestamp: formatInstant(now),
  status: messages[messageName].status,
  messageId: messages[messageName].id,
  message: detail ?? messages[messageName].title,
});

function responseBody(operation: AnyChange, result: ChangeResult, dry: boolean, now: number): string {
  const fields = dry ? { dryRun: true } : result.created;
  return JSON.stringify({ ...envelopeOf(result.message ?? operation.message, result.detail, now), ...fields });
}

/** Runs the checks and the change, and appends its audit entry. Refusals, replays and dry runs work the same for every operation. */
async function runChange(
  operation: AnyChange,
  parameters: unknown,
  caller: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
  { ports, running, withinLimit, checkInTurn }: ManagementParts,
): Promise<FastifyReply> {
  const dry = isDryRun(request, operation);
  const ifMatch = request.headers['if-match'];
  const now = ports.clock.now();
  const idempotentRequest = idempotentRequestOf(
    request.headers['idempotency-key'],
    { tid: caller.tid, caller: callerKey(caller) },
    request,
    ports.vault,
  );
  checkStoreSpace(ports.store);
  await checkConflictLimit(ports.store.read, caller, parameters, now);
  const response = await runOnce(dry ? null : idempotentRequest, running, ports, now, async () => {
    if (operation.target) await checkTarget(ports.store.read, operation.target, parameters, caller, ifMatch);
    const checkResult = await checkInTurn(operation, caller, async () => operation.check?.(parameters, caller, ports));
    return ports.store.write(
      async (tx) => {
        const current = await checkCaller(tx, caller, operation.role, ports.clock.now());
        await checkNotCompleted(tx, dry ? null : idempotentRequest, ports.vault, now);
        if (operation.target) await checkTarget(tx, operation.target, parameters, current, ifMatch);
        const result = await withinLimit(caller, parameters, () => operation.change(parameters, current, tx, ports, checkResult));
        await appendChangeEntry(tx, current, operation.name, result.audit, now);
        const body = responseBody(operation, result, dry, now);
        if (idempotentRequest && !dry) await storeResponse(tx, idempotentRequest, { status: 200, body }, { vault: ports.vault, now });
        return body;
      },
      { tenant: caller.tid },
      { dryRun: dry },
    );
  }).catch((cause: unknown) => countConflict(ports.store, caller, cause, now));
  reply.type('application/json; charset=utf-8');
  if (typeof response === 'string') return reply.send(response);
  return reply.code(response.replayed.status).header('idempotency-replayed', 'true').send(response.replayed.body);
}

interface ManagementParts {
  readonly ports: Ports;
  readonly running: RunningRequests;
  readonly withinLimit: WithinConflictLimit;
  readonly runLimited: RunLimitedChange;
  readonly checkInTurn: CheckInTurn;
  readonly turnsOf: ReadTurns;
  readonly unread: UnreadResponses;
}

async function run(
  operation: Operation,
  check: (value: unknown) => void,
  request: FastifyRequest,
  reply: FastifyReply,
  parts: ManagementParts,
) {
  const { ports, turnsOf, unread } = parts;
  const caller = request.caller ?? (await authenticateCaller(request, ports));
  request.caller = caller;
  checkOperation(caller, operation);
  const parameters = parametersOf(request, operation);
  check(parameters);
  if ('change' in operation) {
    const bytes = Number(request.headers['content-length'] ?? maxBodyBytes);
    return parts.runLimited(caller, bytes, () => runChange(operation, parameters, caller, request, reply, parts));
  }
  const turns = turnsOf(operation, parameters, caller, reply.raw);
  const { inTurn, readInTurn, writeInTurn } = turns;
  if ('stream' in operation) {
    unread.hold({ tenant: `${caller.tid}` }, streamBytes, reply.raw);
    const { contentType, fileName, body } = await operation.stream(parameters, caller, ports, turns);
    return reply.type(contentType).header('content-disposition', `attachment; filename="${fileName}"`).send(Readable.from(body));
  }
  const response = await readInTurn((timedOut) => operation.read(parameters, caller, ports, inTurn, timedOut));
  const etag: unknown = Reflect.get(response, 'etag');
  if (typeof etag === 'string') reply.header('etag', etag);
  const next: unknown = Reflect.get(response, 'next');
  if (typeof next === 'string') reply.header('link', `<${nextPageUrl(request, ports.links.publicUrl(), next)}>; rel="next"`);
  const serialize = () => serializeOnce(response, reply);
  const text = isLong(response) ? await writeInTurn(serialize) : serialize();
  unread.hold({ tenant: `${caller.tid}` }, Buffer.byteLength(text), reply.raw);
  return reply.type('application/json; charset=utf-8').send(text);
}

/** Returns the absolute URL of the next page (RFC 8288), at the host that the client called. */
function nextPageUrl(request: FastifyRequest, publicUrl: string, after: string): string {
  const origin = `${isSecure(request, publicUrl) ? 'https' : 'http'}://${request.host}`;
  const url = new URL(request.url, parseOrigin(origin) ?? publicUrl);
  url.searchParams.delete('startIndex');
  url.searchParams.set('after', after);
  return url.href;
}

const servedMethods: readonly Operation['method'][] = ['GET', 'POST', 'DELETE'];

/** Refuses an address without a route, and a method without one. @throws Refusal (404, 405) */
function checkAddress(api: FastifyInstance, request: FastifyRequest): void {
  if (!request.is404) return;
  const url = request.url.split('?', 1)[0] ?? '';
  const allow = servedMethods.filter((method) => api.hasRoute({ method, url })).join(', ');
  throw allow === '' ? new Refusal('notFound') : new Refusal('methodWrong', `This address accepts only ${allow}.`, { allow });
}

/** Adds the routes of /api/v1. A request is checked in this order: key or session, origin, role, address and method, size, type, body. */
export function managementRoutes(app: FastifyInstance, operations: readonly Operation[], ports: Ports, searches: ClientTurns): void {
  const parts = {
    ports,
    running: new Set<string>(),
    withinLimit: conflictLimit(ports.clock),
    runLimited: limitChanges(),
    checkInTurn: tenantChecks(),
    turnsOf: readTurns(ports, searches),
    unread: unreadResponses(maxUnreadBytes),
  };
  app.register(
    async (api) => {
      api.decorateRequest('caller', null);
      api.addHook('onRequest', async (request, reply) => {
        reply.header('cache-control', 'private, no-store').header('x-content-type-options', 'nosniff');
        const { operation, open } = request.routeOptions.config ?? {};
        if (!open) request.caller = await authenticateCaller(request, ports);
        checkManagementOrigin(request, { bySession: request.caller?.kind === 'operator', overTls: hasSecureSession(request) });
        if (operation && request.caller) checkOperation(request.caller, operation);
        checkAddress(api, request);
        const { bodyLimit } = request.routeOptions;
        if (Number(request.headers['content-length'] ?? 0) > bodyLimit) throw bodyTooLarge(bodyLimit);
        // The caller may lose its rights while the body arrives: it is authenticated again afterwards.
        if (!request.raw.complete) request.caller = null;
      });
      loginRoute(api, ports);
      operatorRoutes(api, ports);
      operatorProviderRoutes(api, ports);
      for (const operation of operations) {
        const check = validator(operation.body, operation.maxSchemaErrors);
        api.route({
          method: operation.method,
          url: `/${operation.name}`,
          exposeHeadRoute: false,
          config: { operation },
          ...(operation.maxBodyBytes === undefined ? {} : { bodyLimit: operation.maxBodyBytes }),
          ...('read' in operation ? { schema: { response: { 200: operation.response } } } : {}),
          handler: (request, reply) => run(operation, check, request, reply, parts),
        });
      }
      api.setNotFoundHandler((request, reply) => sendProblem(request, reply, new Refusal('notFound'), ports.clock.now()));
    },
    { prefix: apiPrefix },
  );
}
