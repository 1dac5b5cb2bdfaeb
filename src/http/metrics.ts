import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { canReadMetrics } from '#core/authorization/role.ts';
import { type MessageName, Refusal } from '#core/messages.ts';
import { firstTenant } from '#core/records/tenant.ts';
import type { JobCounts } from '#features/jobs/job-queue.ts';
import type { MailCounts } from '#features/mail/count-mails.ts';
import type { Ports } from '#ports/ports.ts';
import type { Store } from '#ports/store.ts';
import { countTraffic } from './connections/traffic.ts';
import { authenticateCaller } from './management/authenticate-caller.ts';
import { jobGauges, mailGauges } from './queue-metrics.ts';

export interface Metrics {
  readonly registry: Registry;
  readonly countUnknownLink: () => void;
  /** Measures every request of a server, and the bytes of its connections. */
  observe(app: FastifyInstance): void;
  /** Returns a store that also measures its changes. */
  measureStore(store: Store): Store;
}

/** Values that are read when a client requests the metrics. */
export interface MetricSources {
  readonly version: string;
  readonly transfers: () => number;
  /** Number of waiting entries, by the name of the queue. */
  readonly queues: Readonly<Record<string, () => number>>;
  /** Free and total bytes of the file system that holds POSTERN_DATA. */
  readonly disk: () => Promise<{ readonly free: number; readonly size: number }>;
  /** Resolves when the database has answered. */
  readonly checkStore: () => Promise<void>;
  /** Jobs of all processes on the database, by kind. */
  readonly jobs: () => Promise<readonly JobCounts[]>;
  /** Mails of all tenants, by state, and how long the oldest waiting one has been due. */
  readonly mails: () => Promise<MailCounts>;
}

/** Reason of each refusal of a sign-in attempt. */
const signInRefusals: Partial<Record<MessageName, string>> = {
  signInWrong: 'wrong',
  secondFactorWrong: 'wrong',
  tooManyFailures: 'delayed',
  signInBusy: 'busy',
  currentPasswordWrong: 'wrong',
};

/** Histogram buckets in seconds. A download may take minutes. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];

function httpMetrics(registry: Registry) {
  const registers = [registry];
  const seconds = new Histogram({
    name: 'postern_http_request_seconds',
    help: 'Seconds until the response was sent, by method, route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets,
    registers,
  });
  const refusals = new Counter({
    name: 'postern_refusals_total',
    help: 'Requests that were refused, by the code of the problem.',
    labelNames: ['code'],
    registers,
  });
  const signIns = new Counter({
    name: 'postern_sign_ins_refused_total',
    help: 'Refused credentials by reason: wrong; delayed, after too many failures or unknown links (includes API keys); busy, if too many arrive at once (includes requests for codes and tokens).',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of new Set(Object.values(signInRefusals))) signIns.inc({ reason }, 0);
  return (app: FastifyInstance) =>
    app.addHook('onResponse', ({ method, routeOptions, refusal }, { statusCode, elapsedTime }, done) => {
      seconds.observe({ method, route: routeOptions.url ?? 'none', status: statusCode }, elapsedTime / 1000);
      if (refusal !== null) {
        refusals.inc({ code: refusal });
        const reason = signInRefusals[refusal];
        if (reason !== undefined) signIns.inc({ reason });
      }
      done();
    });
}

function trafficMetrics(registry: Registry) {
  const { watch, totals } = countTraffic();
  for (const [direction, preposition] of [
    ['received', 'from'],
    ['sent', 'to'],
  ] as const)
    new Counter({
      name: `postern_bytes_${direction}_total`,
      help: `Bytes ${direction} ${preposition} clients, headers included.`,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(totals()[direction]);
      },
    });
  return watch;
}

function storeMetrics(registry: Registry, checkStore: () => Promise<void>) {
  const writes = new Histogram({
    name: 'postern_store_write_seconds',
    help: 'Seconds that a database change took, until it was on disk or refused.',
    buckets,
    registers: [registry],
  });
  new Gauge({
    name: 'postern_store_read_seconds',
    help: 'Time of one short query, measured when the metrics are read; NaN: the database did not respond.',
    registers: [registry],
    async collect() {
      const end = this.startTimer();
      await checkStore().then(
        () => end(),
        () => this.set(Number.NaN),
      );
    },
  });
  return (store: Store): Store => ({
    ...store,
    async write(change, turn, options) {
      const end = writes.startTimer();
      try {
        return await store.write(change, turn, options);
      } finally {
        end();
      }
    },
  });
}

function processGauges(registry: Registry, { version, transfers, queues, disk }: MetricSources): void {
  const registers = [registry];
  new Gauge({ name: 'postern_build_info', help: 'The version of Postern, as a label.', labelNames: ['version'], registers }).set(
    { version },
    1,
  );
  new Gauge({
    name: 'postern_transfers',
    help: 'Transfers in progress.',
    registers,
    collect() {
      this.set(transfers());
    },
  });
  new Gauge({
    name: 'postern_queue_length',
    help: 'Number of waiting entries, by queue.',
    labelNames: ['queue'],
    registers,
    collect() {
      for (const [queue, length] of Object.entries(queues)) this.set({ queue }, length());
    },
  });
  new Gauge({
    name: 'postern_disk_bytes',
    help: 'Bytes on the file system of POSTERN_DATA: free and total.',
    labelNames: ['state'],
    registers,
    async collect() {
      const { free, size } = await disk();
      this.set({ state: 'free' }, free);
      this.set({ state: 'total' }, size);
    },
  });
}

/** Creates the metrics of this process, in a registry of their own. */
export function processMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const unknownLinks = new Counter({
    name: 'postern_unknown_links_total',
    help: 'Requests for links that do not exist.',
    registers: [registry],
  });
  processGauges(registry, sources);
  jobGauges(registry, sources.jobs);
  mailGauges(registry, sources.mails);
  const observeRequests = httpMetrics(registry);
  const watchTraffic = trafficMetrics(registry);
  return {
    registry,
    countUnknownLink: () => unknownLinks.inc(),
    observe(app) {
      observeRequests(app);
      watchTraffic(app.server);
    },
    measureStore: storeMetrics(registry, sources.checkStore),
  };
}

/** Adds GET /metrics for Prometheus. The caller must be a key or operator of tenant 1 whose role is `metrics` or `admin`. */
export function metricsRoute(app: FastifyInstance, { registry }: Metrics, ports: Ports): void {
  let collecting: Promise<string> | undefined;
  /** Concurrent requests share one run that collects all metrics. */
  const collectText = () => {
    collecting ??= registry.metrics().finally(() => {
      collecting = undefined;
    });
    return collecting;
  };
  app.get('/metrics', async (request, reply) => {
    const caller = await authenticateCaller(request, ports);
    if (!canReadMetrics(caller.role)) throw new Refusal('roleTooLow', 'Use a key whose role is metrics or admin.');
    if (caller.tid !== firstTenant) throw new Refusal('tenantForbidden');
    return reply.type(registry.contentType).send(await collectText());
  });
}
