import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { VisitAudit } from '#features/audit/visit-audit.ts';
import { hasNoSecrets, isValidKey } from '#features/first-start/first-start.ts';
import { readinessCheck } from '#features/health/readiness.ts';
import { countJobs } from '#features/jobs/job-queue.ts';
import { operations } from '#features/operations.ts';
import { searchTurns } from '#features/turns/search-turns.ts';
import { ListingTurns } from '#features/visits/files/listing-turns.ts';
import { visitorSignIn } from '#features/visits/sign-in/visitor-sign-in.ts';
import { followTransfers } from '#features/visits/transfers/follow-transfers.ts';
import { visitLimits } from '#features/visits/visit-limits.ts';
import type { Limits, Ports } from '#ports/ports.ts';
import { mediaTypes } from './adapters/media/media-types.ts';
import { argon2PasswordHash } from './adapters/os/argon2.ts';
import { diskSpace, probeDisk } from './adapters/os/disk-probe.ts';
import { type JsonLines, openJsonLines } from './adapters/os/json-lines.ts';
import { keyVault } from './adapters/os/key-vault.ts';
import { systemClock, systemRandom } from './adapters/os/system.ts';
import { storagesByKind } from './adapters/storage/kinds.ts';
import { localStorages } from './adapters/storage/local-storages.ts';
import { openStore } from './adapters/store/open-store.ts';
import { DataFolder } from './data-folder.ts';
import { exitOnDiskFailure, exitOnReplacedDatabase } from './exits.ts';
import { accessLog } from './http/access-log.ts';
import { listen } from './http/connections/listen.ts';
import { healthRoutes } from './http/health.ts';
import { managementRoutes } from './http/management/management-api.ts';
import { metricsRoute, processMetrics } from './http/metrics.ts';
import { docsRoutes } from './http/openapi/docs-page.ts';
import { assetRoutes } from './http/pages/asset-routes.ts';
import { consoleRoutes } from './http/pages/console-pages.ts';
import { defaultTimeouts, type RequestTimeouts } from './http/request-timeouts.ts';
import { answerNotFound, createHttpServer } from './http/server.ts';
import { frontServerFiles } from './http/visitor/front-server-file.ts';
import { redirectAliases } from './http/visitor/public-aliases.ts';
import { refusedLookups } from './http/visitor/refused-lookups.ts';
import { responseMemory } from './http/visitor/response-memory.ts';
import { countUnknownLinks } from './http/visitor/unknown-links.ts';
import { visitorRoutes } from './http/visitor/visitor-routes.ts';
import { prepareInstallation, skipIfFull } from './prepare-installation.ts';
import { recoverChanges, startScheduledJobs } from './scheduled-jobs.ts';
import { urlOf } from './server-url.ts';
import type { Settings } from './settings.ts';
import { stopServers } from './stop-servers.ts';

const processBits = 96;
const maxChangeTime = 30_000; // ms

/** A running server. Disposal stops it. */
export interface Postern extends AsyncDisposable {
  /** Base address of links. */
  readonly publicUrl: string;
  /** Base address of the management interface, which serves /api/v1. */
  readonly apiUrl: string;
  /** File that holds the first admin key, if this is the first start and POSTERN_API_KEY is not set; else null. */
  readonly firstKeyFile: string | null;
  /** Address that creates the first operator of the console, valid once and for an hour; null if an operator exists. */
  readonly firstConsoleUrl: string | null;
  /** Returns the names of the locations that do not answer. */
  readonly unavailableLocations: () => Promise<readonly string[]>;
  readonly ports: Ports;
  /** Reopens the access log after its file was renamed. */
  readonly reopenLogs: () => void;
}

/** Parts that a test may replace. */
export interface Replacements {
  readonly ports?: Partial<Ports>;
  readonly log?: NodeJS.WritableStream | null;
  readonly timeouts?: RequestTimeouts;
  /** ms between two checks whether a running transfer is still permitted. */
  readonly transferCheckInterval?: number;
  /** Called when the disk has failed and no request can be answered any more; by default it ends the process. */
  readonly onDiskFailure?: (cause: unknown) => void;
}

/** The project's package.json. It is found from `src` in a checkout and from `build/server` in a build. */
const packageFile = findPackageJSON(import.meta.url) ?? '';
const { version }: { version: string } = JSON.parse(readFileSync(packageFile, 'utf8'));
const pages = join(dirname(packageFile), 'build/visitor');
const consolePages = join(dirname(packageFile), 'build/console');

const limitsOf = ({ maxFileSize, auditDays, minFreeSpace }: Settings): Limits => ({ maxFileSize, auditDays, minFreeSpace, maxChangeTime });

function openAccessLog(target: string): JsonLines {
  try {
    return openJsonLines(target);
  } catch (cause) {
    throw new Error(`POSTERN_ACCESS_LOG: ${cause instanceof Error ? cause.message : 'cannot be written'}`);
  }
}

/** Starts a server. This is the only place that knows every part. @throws Error with a message for the operator */
export async function compose(settings: Settings, replacements: Replacements = {}): Promise<Postern> {
  await using resources = new AsyncDisposableStack();
  const data = new DataFolder(settings.data);
  if (settings.databaseUrl === null) data.checkDatabase();
  const clientAddress = new AsyncLocalStorage<string>();
  const storeSettings = { ...settings, folder: data.path, clientAddress: () => clientAddress.getStore() };
  const database = resources.use(await openStore(storeSettings, replacements.onDiskFailure ?? exitOnDiskFailure));
  const transfers = followTransfers(() => performance.now(), replacements.transferCheckInterval);
  resources.defer(() => transfers.stop());
  const listings = new ListingTurns();
  const passwordHash = replacements.ports?.passwordHash ?? argon2PasswordHash();
  const metrics = processMetrics({
    version,
    transfers: transfers.runningCount,
    queues: { passwords: passwordHash.waitingCount, folders: () => listings.waitingCount() },
    disk: () => diskSpace(data.path),
    checkStore: () => database.check(),
    jobs: () => countJobs({ store: database }),
  });
  const store = metrics.measureStore(replacements.ports?.store ?? database);
  // Created only after the database: a key without a database means that the database of an installation is missing.
  const secretKey = settings.secretKey ?? data.secretKey(await hasNoSecrets(store));
  const storages = resources.use(storagesByKind({ local: localStorages(settings.localRoots, data.path, settings.minFreeSpace) }));
  let publicUrl = settings.publicUrl ?? `http://localhost:${settings.port}`;
  const ports: Ports = {
    storages,
    clock: systemClock,
    random: systemRandom(),
    vault: keyVault(secretKey),
    passwordHash,
    media: mediaTypes,
    process: systemRandom().token(processBits),
    links: { publicUrl: () => publicUrl },
    limits: limitsOf(settings),
    ...replacements.ports,
    store,
  };

  const { identity, firstKey, invitation } = await prepareInstallation(ports, settings, data);
  const runningChanges = new Set<string>();
  const timeouts = replacements.timeouts ?? defaultTimeouts;
  const { log = process.stderr } = replacements;
  const http = { trustedProxies: settings.trustedProxies, timeouts, log, clientAddress };
  const app = createHttpServer(http, ports);
  await skipIfFull(() => recoverChanges(ports, runningChanges, app.log, { keepsTrash: true })); // the sweep of the scheduled jobs deletes these

  const audit = resources.use(
    new VisitAudit(ports, (cause) =>
      app.log.error(
        { error: cause instanceof Error ? cause.name : 'unknown' },
        'Cannot write audit entries to the database. They stay in memory and are written with the next ones.',
      ),
    ),
  );
  const admin = settings.admin ? createHttpServer(http, ports) : app;

  const access = settings.accessLog === null ? null : resources.use(openAccessLog(settings.accessLog));
  const readiness = resources.use(readinessCheck(ports, () => probeDisk(data.path)));
  for (const server of new Set([app, admin])) {
    redirectAliases(server, settings.publicUrlAliases, ports.links.publicUrl);
    metrics.observe(server);
    if (access) accessLog(server, access.write, ports.clock, () => performance.now());
    healthRoutes(server, readiness);
  }
  const searches = searchTurns(store.maxSearchesPerTenant);
  managementRoutes(admin, operations, ports, searches);
  metricsRoute(admin, metrics, ports);
  if (admin !== app) {
    admin.get('/', (_request, reply) => reply.redirect('/console'));
    answerNotFound(admin, ports.clock);
  }
  docsRoutes(admin, operations, ports.links);
  await assetRoutes(app, pages, '/assets/');
  await consoleRoutes(admin, consolePages, ports.random);
  const unknownLinks = countUnknownLinks(ports.clock, metrics.countUnknownLink);
  resources.use(
    startScheduledJobs({
      ports,
      log: app.log,
      runningChanges,
      unknownLinks,
      database: identity,
      onReplacedDatabase: exitOnReplacedDatabase,
    }),
  );
  const visitPorts = {
    ...ports,
    audit,
    runningChanges,
    listings,
    searches,
    ...visitLimits(ports.clock),
    ...visitorSignIn(ports),
  };
  visitorRoutes(app, {
    ports: visitPorts,
    transfers,
    unknownLinks,
    refusedLookups: refusedLookups(),
    running: new Set(),
    timeouts,
    responseMemory: responseMemory(),
    frontServer: frontServerFiles(settings.sendfile, settings.trustedProxies),
    hasManagement: admin === app,
    pages,
  });

  for (const [server, address] of [[app, settings] as const, ...(settings.admin ? [[admin, settings.admin] as const] : [])]) {
    resources.defer(() => server.close());
    await listen(server, { host: address.host, port: address.port });
  }
  if (settings.publicUrl === null) publicUrl = urlOf(app, settings.host);
  const apiUrl = urlOf(admin, settings.admin?.host ?? settings.host);
  const parts = resources.move();
  return {
    publicUrl,
    apiUrl,
    firstKeyFile: firstKey === null || !(await isValidKey(ports, firstKey)) ? null : data.firstKeyFile,
    firstConsoleUrl: invitation === null ? null : `${admin === app ? publicUrl : apiUrl}/console/first#${invitation}`,
    unavailableLocations: async () => (await readiness.readiness()).locations.filter(({ answers }) => !answers).map(({ name }) => name),
    ports,
    reopenLogs: () => access?.reopen(),
    async [Symbol.asyncDispose]() {
      await stopServers([...new Set([app, admin])], transfers);
      await parts[Symbol.asyncDispose]();
    },
  };
}
