import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import { probeDisk } from '#adapters/os/disk-probe.ts';
import { type JsonLines, openJsonLines } from '#adapters/os/json-lines.ts';
import { DataFolder } from '#data-folder.ts';
import { exitOnReplacedDatabase } from '#exits.ts';
import { VisitAudit } from '#features/audit/visit-audit.ts';
import { isValidKey } from '#features/first-start/first-start.ts';
import { readinessCheck } from '#features/health/readiness.ts';
import { searchTurns } from '#features/turns/search-turns.ts';
import { BusyLocations } from '#features/visits/files/busy-locations.ts';
import { visitorSignIn } from '#features/visits/sign-in/visitor-sign-in.ts';
import { createVisitLimits } from '#features/visits/visit-limits.ts';
import { listen } from '#http/connections/listen.ts';
import { assetRoutes } from '#http/pages/asset-routes.ts';
import { defaultTimeouts, type RequestTimeouts } from '#http/request-timeouts.ts';
import { DiscardLimit } from '#http/visitor/discard-limit.ts';
import { limitedSessionLookups } from '#http/visitor/limited-session-lookups.ts';
import { responseMemory } from '#http/visitor/response-memory.ts';
import { reverseProxyFiles } from '#http/visitor/reverse-proxy-file.ts';
import { createUnknownLinks } from '#http/visitor/unknown-links.ts';
import { visitorRoutes } from '#http/visitor/visitor-routes.ts';
import type { Ports } from '#ports/ports.ts';
import type { Settings } from '#settings/settings.ts';
import { type OpenPorts, openPorts } from './open-ports.ts';
import { prepareInstallation, skipIfFull } from './prepare-installation.ts';
import type { TestReplacements } from './replacements.ts';
import { recoverChanges, startScheduledJobs } from './scheduled-jobs.ts';
import { urlOf } from './server-url.ts';
import { addCommonRoutes, addManagementRoutes, allServers, createServers, type Servers } from './servers.ts';
import { disposeInTime, stopServers } from './stop-servers.ts';

/** A running server. Disposal stops it. */
export interface Postern extends AsyncDisposable {
  /** Base address of links. */
  readonly publicUrl: string;
  /** Base address of the management interface, which serves /api/v1. */
  readonly apiUrl: string;
  /** File that holds the first admin key, if this start created that key; else null. */
  readonly firstKeyFile: string | null;
  /** One-time address at which the first operator is created, valid for an hour; null if tenant 1 has an admin, or if the disk is full. */
  readonly firstConsoleUrl: string | null;
  /** Returns the names of the locations that do not respond; none, if the first check of all locations takes more than two seconds. */
  readonly unavailableLocations: () => Promise<readonly string[]>;
  /** Returns why LibreOffice does not work; null: it works, or is not installed. */
  readonly officeProblem: () => Promise<string | null>;
  readonly ports: Ports;
  /** Reopens the access log after its file was renamed. */
  readonly reopenLogs: () => void;
}

/** The project's package.json. It is found from `src` in a checkout and from `build/server` in a build. */
const packageFile = findPackageJSON(import.meta.url) ?? '';
const { version }: { version: string } = JSON.parse(readFileSync(packageFile, 'utf8'));
const pages = join(dirname(packageFile), 'build/visitor');
const consolePages = join(dirname(packageFile), 'build/console');

function openAccessLog(target: string): JsonLines {
  try {
    return openJsonLines(target);
  } catch (cause) {
    throw new Error(`POSTERN_ACCESS_LOG: ${cause instanceof Error ? cause.message : 'cannot be written'}`);
  }
}

const reportAuditFailure = (log: FastifyBaseLogger) => (cause: unknown) =>
  log.error(
    { error: cause instanceof Error ? cause.name : 'unknown' },
    'Cannot write audit entries to the database. Postern keeps a limited number in memory and writes them later, unless the database rejects them.',
  );

const reportDroppedEvents = (log: FastifyBaseLogger) => (count: number) =>
  log.error(`${count} events of visitors are missing in the audit log: too many were waiting for the database.`);

/** Starts to listen at the addresses of the settings. @returns the base addresses of links and of the management interface */
async function startListening({ visitor, management }: Servers, settings: Settings, resources: AsyncDisposableStack) {
  const { admin } = settings;
  for (const [server, address] of [[visitor, settings] as const, ...(admin ? [[management, admin] as const] : [])]) {
    resources.defer(() => server.close());
    await listen(server, { host: address.host, port: address.port });
  }
  return { publicUrl: settings.publicUrl ?? urlOf(visitor, settings.host), apiUrl: urlOf(management, admin?.host ?? settings.host) };
}

/** Adds the routes for visitors and for the management, and starts the background jobs. @returns the check of readiness */
async function addRoutes(
  servers: Servers,
  opened: OpenPorts,
  options: {
    readonly settings: Settings;
    readonly data: DataFolder;
    readonly databaseId: string;
    readonly runningChanges: Set<string>;
    readonly busyLocations: BusyLocations;
    readonly timeouts: RequestTimeouts;
    readonly jobInterval: number | undefined;
  },
  resources: AsyncDisposableStack,
) {
  const { ports, transfers, listings, metrics } = opened;
  const { settings, data, databaseId, runningChanges, busyLocations, timeouts, jobInterval } = options;
  const { log } = servers.visitor;
  const audit = resources.use(new VisitAudit(ports, reportAuditFailure(log), reportDroppedEvents(log)));
  const readiness = resources.use(readinessCheck(ports, () => probeDisk(data.path)));
  const { publicUrlAliases } = settings;
  addCommonRoutes(servers, ports, { publicUrlAliases, metrics, readiness });
  const searches = searchTurns(ports.store.maxSearchesPerTenant);
  await addManagementRoutes(servers, ports, { metrics, searches, pages: consolePages });
  await assetRoutes(servers.visitor, pages, '/assets/');
  const unknownLinks = createUnknownLinks(ports.clock, metrics.countUnknownLink);
  const limits = createVisitLimits(ports);
  const { uploadWriters } = limits;
  const jobs = {
    ports,
    log,
    runningChanges,
    busyLocations,
    unknownLinks,
    uploadWriters,
    database: databaseId,
    onReplacedDatabase: exitOnReplacedDatabase,
    jobInterval,
  };
  resources.use(startScheduledJobs(jobs));
  visitorRoutes(servers.visitor, {
    ports: { ...ports, audit, runningChanges, listings, searches, ...limits, ...visitorSignIn(ports, audit) },
    transfers,
    unknownLinks,
    limitedSessionLookups: limitedSessionLookups(),
    running: new Set(),
    timeouts,
    responseMemory: responseMemory(),
    discards: new DiscardLimit(),
    reverseProxy: reverseProxyFiles(settings.sendfile, settings.trustedProxies),
    hasManagement: servers.management === servers.visitor,
    pages,
  });
  return readiness;
}

/** Starts a server. @throws Error with a message for the operator */
export async function compose(settings: Settings, replacements: TestReplacements = {}): Promise<Postern> {
  await using resources = new AsyncDisposableStack();
  const data = new DataFolder(settings.data);
  if (settings.databaseUrl === null) data.checkDatabase();
  const opened = await openPorts(settings, replacements, data, version, resources);
  const { ports, transfers } = opened;
  const { databaseId, firstKey, invitation } = await prepareInstallation(ports, settings, data);
  const { log = process.stderr, timeouts = defaultTimeouts, jobInterval } = replacements;
  const access = settings.accessLog === null ? null : resources.use(openAccessLog(settings.accessLog));
  const { clientAddress } = opened;
  const http = { trustedProxies: settings.trustedProxies, timeouts, log, clientAddress, writeAccessEntry: access?.write ?? null };
  const servers = createServers(http, ports, settings.admin !== null);
  const runningChanges = new Set<string>();
  const busyLocations = new BusyLocations();
  // Recovery leaves removed files and folders in the staging areas: a scheduled job deletes them.
  await skipIfFull(() => recoverChanges(ports, runningChanges, servers.visitor.log, { keepsTrash: true, busyLocations }));
  const options = { settings, data, databaseId, runningChanges, busyLocations, timeouts, jobInterval };
  const readiness = await addRoutes(servers, opened, options, resources);
  const { publicUrl, apiUrl } = await startListening(servers, settings, resources);
  opened.setPublicUrl(publicUrl);
  const parts = resources.move();
  return {
    publicUrl,
    apiUrl,
    firstKeyFile: firstKey === null || !(await isValidKey(ports, firstKey)) ? null : data.firstKeyFile,
    firstConsoleUrl: invitation === null ? null : `${settings.admin ? apiUrl : publicUrl}/console/first#${invitation}`,
    unavailableLocations: async () => (await readiness.readiness()).locations.filter(({ answers }) => !answers).map(({ name }) => name),
    officeProblem: opened.officeProblem,
    ports,
    reopenLogs: () => access?.reopen(),
    async [Symbol.asyncDispose]() {
      await stopServers(allServers(servers), transfers);
      await disposeInTime(parts);
    },
  };
}
