import { resolve } from 'node:path';
import { isOfKubernetes, withoutServices } from './kubernetes-variables.ts';
import {
  accessLog,
  addresses,
  atLeast,
  bearer,
  databaseUrl,
  localRoots,
  mebibytes,
  optional,
  port,
  positive,
  publicUrl,
  ranges,
  sendfile,
  smtpUrl,
  text,
} from './setting-values.ts';

/** The settings of the operator, read once at start. */
export interface Settings {
  readonly port: number;
  readonly host: string;
  /** Separate address of the management interface; null: it listens on the same address as the links. */
  readonly admin: { readonly port: number; readonly host: string } | null;
  /** Base address of links; null: `http://localhost:PORT`. */
  readonly publicUrl: string | null;
  /** Former origins of the same server. */
  readonly publicUrlAliases: readonly string[];
  readonly data: string;
  /** null: the embedded database in `data`. */
  readonly databaseUrl: string | null;
  /** Memory for the texts of searched tenants; bytes. */
  readonly searchMemory: number;
  /** Bytes that visitors leave free on the file system of `data`. */
  readonly minFreeSpace: number;
  readonly apiKey: string | null;
  readonly secretKey: string | null;
  readonly localRoots: readonly { readonly tid: number; readonly folder: string }[];
  readonly privateTargets: string;
  readonly trustedProxies: readonly string[];
  /** Header that makes a trusted proxy send large files itself; null: Postern sends them. */
  readonly sendfile: 'x-accel-redirect' | 'x-sendfile' | null;
  readonly smtpUrl: string | null;
  readonly mailFrom: string | null;
  readonly maxFileSize: number;
  /** File of the access log, or `stdout`; null: no access log. */
  readonly accessLog: string | null;
  readonly auditDays: number;
}

/** A setting has an invalid value. The message names the setting and says what is allowed. */
export class WrongSetting extends Error {}

/** An environment variable. The documentation of settings is generated from these. */
interface Setting<T> {
  readonly name: string;
  readonly fallback: string;
  readonly meaning: string;
  /** @throws Error whose message says what is allowed */
  readonly read: (text: string) => T;
}

const setting = <T>(name: string, fallback: string, meaning: string, read: (text: string) => T): Setting<T> => ({
  name,
  fallback,
  meaning,
  read,
});
/** Every setting. */
export const catalogue = {
  port: setting('PORT', '8080', 'Port where it listens.', port),
  host: setting('HOST', '127.0.0.1', 'Address where it listens.', text),
  adminPort: setting('POSTERN_ADMIN_PORT', '', 'If set: `/api/v1`, `/docs` and `/metrics` listen there and only there.', optional(port)),
  adminHost: setting('POSTERN_ADMIN_HOST', '', 'Address of POSTERN_ADMIN_PORT; HOST if not set.', text),
  publicUrl: setting('POSTERN_PUBLIC_URL', '', 'Base address written into links; `http://localhost:PORT` if not set.', optional(publicUrl)),
  publicUrlAliases: setting(
    'POSTERN_PUBLIC_URL_ALIASES',
    '',
    'Former base addresses, separated by commas: links lead from there to POSTERN_PUBLIC_URL, nothing else is answered.',
    (text) =>
      text
        .split(',')
        .map((entry) => entry.trim())
        .filter(Boolean)
        .map(publicUrl),
  ),
  data: setting(
    'POSTERN_DATA',
    './data',
    'Folder of the embedded database, the keys, and the location `local` in `files/` below it.',
    (value) => resolve(value),
  ),
  databaseUrl: setting(
    'POSTERN_DATABASE_URL',
    '',
    'Database on a PostgreSQL server, `postgres://user:password@host:port/database`; the embedded one in POSTERN_DATA if not set.',
    optional(databaseUrl),
  ),
  searchMemory: setting(
    'POSTERN_SEARCH_MEMORY',
    '144',
    'MiB for the texts of tenants whose lists are used, some 200 bytes a share; what does not fit is read from the disk, ten times slower. PostgreSQL takes none.',
    mebibytes,
  ),
  minFreeSpace: setting(
    'POSTERN_MIN_FREE_SPACE',
    '128',
    'MiB that visitors leave free on the file system of POSTERN_DATA; below, their uploads, new folders and renames are answered 507. 0: they may fill it.',
    mebibytes,
  ),
  apiKey: setting(
    'POSTERN_API_KEY',
    '',
    'An admin key of tenant 1, named `environment`, at least 16 characters; it replaces its forerunner at each start.',
    optional(bearer),
  ),
  secretKey: setting(
    'POSTERN_SECRET_KEY',
    '',
    'Encrypts stored secrets, at least 16 characters; a file of mode 0600 in POSTERN_DATA if not set.',
    optional(atLeast(16)),
  ),
  localRoots: setting(
    'POSTERN_LOCAL_ROOTS',
    '',
    '`tid:/folder` pairs, separated by commas, below which that tenant may add `local` locations.',
    localRoots,
  ),
  privateTargets: setting(
    'POSTERN_PRIVATE_TARGETS',
    '',
    'Networks in which addresses given by tenants may lie; nothing built so far connects to any.',
    ranges,
  ),
  trustedProxies: setting('POSTERN_TRUSTED_PROXIES', '', 'Addresses whose `X-Forwarded-For` and `-Proto` are believed.', addresses),
  sendfile: setting(
    'POSTERN_SENDFILE',
    '',
    '`x-accel-redirect` or `x-sendfile`: by that header a trusted proxy on the same machine is told to send large downloads itself (see running.md). A revocation does not cut those.',
    optional(sendfile),
  ),
  smtpUrl: setting(
    'POSTERN_SMTP_URL',
    '',
    'Mail server, `smtp://user:password@host:port`; alerts are kept until their sending is built.',
    optional(smtpUrl),
  ),
  mailFrom: setting('POSTERN_MAIL_FROM', '', 'Sender of alerts.', optional(text)),
  maxFileSize: setting('POSTERN_MAX_FILE_SIZE', '1099511627776', 'Largest upload, in bytes.', positive),
  accessLog: setting(
    'POSTERN_ACCESS_LOG',
    '',
    'File for one line of JSON for each request, or `stdout`; SIGHUP opens it anew. Holds no secrets (see logs.md).',
    optional(accessLog),
  ),
  auditDays: setting('POSTERN_AUDIT_DAYS', '400', 'Days that audit rows are kept.', positive),
};

const settingNames: readonly string[] = Object.values(catalogue).map(({ name }) => name);

const isWithin = (folder: string, outer: string) => folder === outer || folder.startsWith(outer === '/' ? outer : `${outer}/`);

/** Checks that no root of locations overlaps the folder of the database and the keys. @throws WrongSetting */
function checkRoots(environment: Readonly<Record<string, string | undefined>>): void {
  const { localRoots: roots, data } = catalogue;
  const folder = data.read(environment[data.name] ?? data.fallback);
  for (const root of roots.read(environment[roots.name] ?? roots.fallback)) {
    const inFiles = isWithin(root.folder, `${folder}/files`);
    if (isWithin(folder, root.folder) || (isWithin(root.folder, folder) && !inFiles))
      throw new WrongSetting(
        `${roots.name} names ${root.folder}, which overlaps ${data.name} (${folder}), where the database and the keys are: name a folder beside it`,
      );
  }
}

/**
 * Reads the settings from environment variables.
 * @throws WrongSetting whose message names every invalid variable, and every unknown one that begins with POSTERN_
 */
export function readSettings(variables: Readonly<Record<string, string | undefined>>): Settings {
  const environment = withoutServices(variables);
  const fieldErrors = Object.keys(environment)
    .filter((name) => name.startsWith('POSTERN_') && !settingNames.includes(name) && !isOfKubernetes(name))
    .map((name) => `${name} is not a setting`);
  for (const { name, fallback, read } of Object.values(catalogue)) {
    try {
      read(environment[name] ?? fallback);
    } catch (cause) {
      fieldErrors.push(`${name} ${cause instanceof Error ? cause.message : 'is wrong'}`);
    }
  }
  if (environment[catalogue.sendfile.name] && !environment[catalogue.trustedProxies.name])
    fieldErrors.push(`${catalogue.sendfile.name} needs ${catalogue.trustedProxies.name}: nobody else is told where a file lies`);
  if (fieldErrors.length > 0) throw new WrongSetting(fieldErrors.join('\n'));
  checkRoots(environment);
  const readValue = <T>({ name, fallback, read }: Setting<T>): T => read(environment[name] ?? fallback);
  const adminPort = readValue(catalogue.adminPort);
  const host = readValue(catalogue.host);
  return {
    port: readValue(catalogue.port),
    host,
    admin: adminPort === null ? null : { port: adminPort, host: readValue(catalogue.adminHost) || host },
    publicUrl: readValue(catalogue.publicUrl),
    publicUrlAliases: readValue(catalogue.publicUrlAliases),
    data: readValue(catalogue.data),
    databaseUrl: readValue(catalogue.databaseUrl),
    searchMemory: readValue(catalogue.searchMemory),
    minFreeSpace: readValue(catalogue.minFreeSpace),
    apiKey: readValue(catalogue.apiKey),
    secretKey: readValue(catalogue.secretKey),
    localRoots: readValue(catalogue.localRoots),
    privateTargets: readValue(catalogue.privateTargets),
    trustedProxies: readValue(catalogue.trustedProxies),
    sendfile: readValue(catalogue.sendfile),
    smtpUrl: readValue(catalogue.smtpUrl),
    mailFrom: readValue(catalogue.mailFrom),
    maxFileSize: readValue(catalogue.maxFileSize),
    accessLog: readValue(catalogue.accessLog),
    auditDays: readValue(catalogue.auditDays),
  };
}
