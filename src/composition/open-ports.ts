import { AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';
import { CertificateSignatures } from '#adapters/documents/certificate-signatures.ts';
import { DocumentRenderer } from '#adapters/documents/document-renderer.ts';
import { officeConverter } from '#adapters/documents/office/office-converter.ts';
import { OpenIdProviders } from '#adapters/identity/openid-client.ts';
import { passkeys } from '#adapters/identity/passkeys.ts';
import { ThreadedSamlProviders } from '#adapters/identity/saml/saml-providers.ts';
import { ThreadedProviders } from '#adapters/identity/threaded-providers.ts';
import { totp } from '#adapters/identity/totp.ts';
import { smtpMail } from '#adapters/mail/smtp-mail.ts';
import { mediaTypes } from '#adapters/media/media-types.ts';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { argon2PasswordHash } from '#adapters/os/argon2.ts';
import { diskSpace } from '#adapters/os/disk-probe.ts';
import { keyVault } from '#adapters/os/key-vault.ts';
import { systemClock, systemRandom } from '#adapters/os/system.ts';
import { TenantTurns } from '#adapters/os/tenant-turns.ts';
import { azureKind } from '#adapters/storage/azure/azure-kind.ts';
import { MachineTokens } from '#adapters/storage/azure/machine-token.ts';
import { OpenFolders } from '#adapters/storage/disk/open-folders.ts';
import { FolderListCache } from '#adapters/storage/folder-list-cache.ts';
import { localStorages } from '#adapters/storage/local-storages.ts';
import { PartSpace } from '#adapters/storage/part-space.ts';
import { MachineCredentials } from '#adapters/storage/s3/machine-credentials.ts';
import { s3Kind } from '#adapters/storage/s3/s3-kind.ts';
import { sftpKind } from '#adapters/storage/sftp/sftp-kind.ts';
import { storagesByKind } from '#adapters/storage/storage-kinds.ts';
import { storageMemory } from '#adapters/storage/storage-memory.ts';
import { UploadSpool } from '#adapters/storage/upload-spool.ts';
import { webdavKind } from '#adapters/storage/webdav/webdav-kind.ts';
import { openStore } from '#adapters/store/open-store.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import type { DataFolder } from '#data-folder.ts';
import { exitOnDiskFailure } from '#exits.ts';
import { hasNoSecrets } from '#features/first-start/first-start.ts';
import { countJobs } from '#features/jobs/job-queue.ts';
import { countMails } from '#features/mail/count-mails.ts';
import { ListingTurns } from '#features/visits/files/listing-turns.ts';
import { followTransfers, type Transfers } from '#features/visits/transfers/follow-transfers.ts';
import { type Metrics, processMetrics } from '#http/metrics.ts';
import type { Mail } from '#ports/mail.ts';
import type { Limits, Ports } from '#ports/ports.ts';
import type { Settings } from '#settings/settings.ts';
import type { TestReplacements } from './replacements.ts';

const processBits = 96;
const maxChangeTime = 30_000; // ms

/** The ports of a server, and other parts that a server needs. */
export interface OpenPorts {
  readonly ports: Ports;
  readonly transfers: Transfers;
  readonly listings: ListingTurns;
  readonly metrics: Metrics;
  /**
   * Holds the address of the client whose request is running. null with SQLite, which does not use the address: without an
   * AsyncLocalStorage, a request takes a tenth less time.
   */
  readonly clientAddress: AsyncLocalStorage<string> | null;
  /** Returns why LibreOffice does not work; null: it works, or is not installed. */
  readonly officeProblem: () => Promise<string | null>;
  /** Sets the base address of links. Before the first call, it is that of the settings, or `localhost` with the port of the settings. */
  readonly setPublicUrl: (url: string) => void;
}

const limitsOf = ({ maxFileSize, auditDays, minFreeSpace }: Settings): Limits => ({ maxFileSize, auditDays, minFreeSpace, maxChangeTime });

/** Returns the mail server of the settings, or null. */
function openMail({ mail }: Settings, resources: AsyncDisposableStack): Mail | null {
  if (!mail) return null;
  const { server, ca, from, language, timeZone } = mail;
  return resources.use(smtpMail({ ...server, ca, from, language, timeZone }));
}

/**
 * Opens the database, and creates the other ports.
 * @param version of Postern, for metrics
 * @param resources disposes of everything that this function opens
 * @throws Error with a message for the operator
 */
export async function openPorts(
  settings: Settings,
  replacements: TestReplacements,
  data: DataFolder,
  version: string,
  resources: AsyncDisposableStack,
): Promise<OpenPorts> {
  const clientAddress = settings.databaseUrl === null ? null : new AsyncLocalStorage<string>();
  const storeSettings = { ...settings, folder: data.path, clientAddress: () => clientAddress?.getStore() };
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
    mails: () => countMails({ store: database }),
  });
  const store = metrics.measureStore(replacements.ports?.store ?? database);
  // The key file is created only after the database: if a later start finds the key file but no database, the database was lost.
  const secretKey = settings.secretKey ?? data.secretKey(await hasNoSecrets(store));
  const folders = new OpenFolders();
  const local = localStorages(settings.localRoots, data.path, settings.minFreeSpace, folders);
  const privateTargets = packRangeText(settings.privateTargets);
  const serviceTurns = new TenantTurns(() => performance.now(), 1);
  const outbound = resources.use(guardedOutbound({ privateTargets, addTurn: (tid, work) => serviceTurns.add(tid, work) }));
  const parts = new PartSpace({ folder: data.path, minFreeSpace: settings.minFreeSpace });
  const objectServices = { outbound, parts, memory: storageMemory(), lists: new FolderListCache() };
  const s3 = s3Kind({ ...objectServices, machineCredentials: new MachineCredentials(systemClock.now) }, settings.machineCredentials);
  const spool = new UploadSpool({
    folder: join(data.path, 'uploads'),
    maxBytes: settings.maxUploadSpoolBytes,
    space: parts,
    monotonic: () => performance.now(),
  });
  const azure = azureKind({ ...objectServices, spool, machineTokens: new MachineTokens(systemClock.now) }, settings.machineCredentials);
  const webdav = webdavKind({ ...objectServices, spool });
  const sftp = sftpKind(objectServices);
  const storages = resources.use(storagesByKind({ local, s3, azure, sftp, webdav }));
  const providers = resources.use(new ThreadedProviders(privateTargets));
  const office = officeConverter(settings.libreOffice);
  let publicUrl = settings.publicUrl ?? `http://localhost:${settings.port}`;
  const random = systemRandom();
  const ports: Ports = {
    storages,
    clock: systemClock,
    random,
    vault: keyVault(secretKey, random),
    passwordHash,
    openId: new OpenIdProviders(providers, random, () => performance.now()),
    saml: resources.use(new ThreadedSamlProviders(providers, { now: systemClock.now, monotonic: () => performance.now() })),
    directories: providers.directories,
    totp: totp(),
    passkeys: passkeys(),
    documents: resources.use(new DocumentRenderer(office)),
    signatures: new CertificateSignatures(outbound, settings.token, process.env),
    media: mediaTypes,
    process: random.token(processBits),
    links: { publicUrl: () => publicUrl },
    limits: limitsOf(settings),
    operatorProvider: settings.operatorProvider,
    mail: openMail(settings, resources),
    ...replacements.ports,
    store,
  };
  const setPublicUrl = (url: string) => {
    publicUrl = url;
  };
  return { ports, transfers, listings, metrics, clientAddress, setPublicUrl, officeProblem: async () => office?.problem() ?? null };
}
