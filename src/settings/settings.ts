import { resolve } from 'node:path';
import type { OperatorProvider } from '#core/openid/operator-role.ts';
import { isKubernetesVariable, removeServiceAddresses } from './kubernetes-variables.ts';
import { type MailSettings, mailSettingDefinitions } from './mail-settings.ts';
import { operatorProviderDefinitions, readOperatorProvider } from './operator-provider-settings.ts';
import { type Setting, setting } from './setting.ts';
import {
  parseAccessLog,
  parseAddresses,
  parseBearerKey,
  parseDatabaseUrl,
  parseLocalRoots,
  parseMebibytes,
  parseMinLength,
  parseOptional,
  parsePort,
  parsePositive,
  parsePublicUrl,
  parseRangesSetting,
  parseSendfile,
  parseTenantIds,
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
  readonly machineCredentials: readonly number[];
  readonly trustedProxies: readonly string[];
  /** Header that makes a trusted proxy send large files itself; null: Postern sends them. */
  readonly sendfile: 'x-accel-redirect' | 'x-sendfile' | null;
  /** null: Postern sends no mail. */
  readonly mail: MailSettings | null;
  /** null: operators sign in with passwords only. */
  readonly operatorProvider: OperatorProvider | null;
  readonly maxFileSize: number;
  /** File of the access log, or `stdout`; null: no access log. */
  readonly accessLog: string | null;
  readonly auditDays: number;
}

/** A setting is unknown or invalid. The message names the setting and says what is wrong. */
export class InvalidSetting extends Error {}

/** Every setting. */
export const settingDefinitions = {
  port: setting('PORT', '8080', 'Port that Postern listens on.', parsePort),
  host: setting('HOST', '127.0.0.1', 'Address that Postern listens on.', text),
  adminPort: setting(
    'POSTERN_ADMIN_PORT',
    '',
    'If set, `/api/v1`, the console, `/docs`, `/openapi.json` and `/metrics` are served on this port only.',
    parseOptional(parsePort),
  ),
  adminHost: setting('POSTERN_ADMIN_HOST', '', 'Address for POSTERN_ADMIN_PORT; HOST if not set.', text),
  publicUrl: setting(
    'POSTERN_PUBLIC_URL',
    '',
    'Base address written into links; `http://localhost:PORT` if not set.',
    parseOptional(parsePublicUrl),
  ),
  publicUrlAliases: setting(
    'POSTERN_PUBLIC_URL_ALIASES',
    '',
    'Former base addresses, separated by commas. Links there redirect to POSTERN_PUBLIC_URL; other requests are refused.',
    (text) =>
      text
        .split(',')
        .map((entry) => entry.trim())
        .filter(Boolean)
        .map(parsePublicUrl),
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
    parseOptional(parseDatabaseUrl),
  ),
  searchMemory: setting(
    'POSTERN_SEARCH_MEMORY',
    '144',
    'MiB of memory for the search texts of tenants, about 200 bytes a share. Searches in texts that do not fit read the disk and are ten times slower. Not used with PostgreSQL.',
    parseMebibytes,
  ),
  minFreeSpace: setting(
    'POSTERN_MIN_FREE_SPACE',
    '128',
    'MiB that visitors must leave free on the file system of POSTERN_DATA. With less, their uploads, new folders and renames are refused with 507; with PostgreSQL, only uploads that need space on this file system. 0: no limit.',
    parseMebibytes,
  ),
  apiKey: setting(
    'POSTERN_API_KEY',
    '',
    'An admin key of tenant 1, named `environment`, at least 16 characters. At each start it replaces the previous one.',
    parseOptional(parseBearerKey),
  ),
  secretKey: setting(
    'POSTERN_SECRET_KEY',
    '',
    'Key that encrypts stored secrets, at least 16 characters. If it is not set, Postern creates one in the file `secret-key` in POSTERN_DATA.',
    parseOptional(parseMinLength(16)),
  ),
  localRoots: setting(
    'POSTERN_LOCAL_ROOTS',
    '',
    'Folders within which a tenant may add `local` locations: pairs of tenant id and folder such as `1:/srv/files`, separated by commas.',
    parseLocalRoots,
  ),
  privateTargets: setting(
    'POSTERN_PRIVATE_TARGETS',
    '',
    'Private addresses that Postern may connect to for a tenant, for example to reach its identity provider: addresses, CIDR blocks and first-last ranges such as `10.1.2.0/24, 127.0.0.1`, separated by commas.',
    parseRangesSetting,
  ),
  machineCredentials: setting(
    'POSTERN_MACHINE_CREDENTIALS',
    '',
    'Ids of tenants, such as `1` or `1, 2`. Their `s3` and `azure` locations may use the identity of this machine instead of a key: its role (EC2, ECS), or its managed identity (Azure). These tenants can reach every bucket or container that the machine can reach.',
    parseTenantIds,
  ),
  trustedProxies: setting(
    'POSTERN_TRUSTED_PROXIES',
    '',
    'Addresses of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` headers are trusted.',
    parseAddresses,
  ),
  sendfile: setting(
    'POSTERN_SENDFILE',
    '',
    '`x-accel-redirect` or `x-sendfile`: the header that makes a trusted proxy on the same machine send large downloads itself (see running.md). Revoking a link does not stop such downloads.',
    parseOptional(parseSendfile),
  ),
  ...mailSettingDefinitions,
  ...operatorProviderDefinitions,
  maxFileSize: setting('POSTERN_MAX_FILE_SIZE', '1099511627776', 'Largest upload, in bytes.', parsePositive),
  accessLog: setting(
    'POSTERN_ACCESS_LOG',
    '',
    'File to which each request adds one line of JSON, or `stdout`. SIGHUP reopens the file. Contains no secrets (see logs.md).',
    parseOptional(parseAccessLog),
  ),
  auditDays: setting('POSTERN_AUDIT_DAYS', '400', 'Days after which audit entries are deleted.', parsePositive),
};

const settingNames: readonly string[] = Object.values(settingDefinitions).map(({ name }) => name);

const isWithin = (folder: string, outer: string) => folder === outer || folder.startsWith(outer === '/' ? outer : `${outer}/`);

/** Checks that no root of locations overlaps the folder of the database and the keys. @throws InvalidSetting */
function checkRoots(environment: Readonly<Record<string, string | undefined>>): void {
  const { localRoots: roots, data } = settingDefinitions;
  const folder = data.parse(environment[data.name] ?? data.defaultValue);
  for (const root of roots.parse(environment[roots.name] ?? roots.defaultValue)) {
    const inFiles = isWithin(root.folder, `${folder}/files`);
    if (isWithin(folder, root.folder) || (isWithin(root.folder, folder) && !inFiles))
      throw new InvalidSetting(
        `${roots.name} names ${root.folder}, which overlaps ${data.name} (${folder}), where the database and the keys are. Choose a folder outside it`,
      );
  }
}

/**
 * Reads the settings from environment variables.
 * @throws InvalidSetting whose message names every invalid variable, and every unknown one that begins with POSTERN_
 */
export function readSettings(variables: Readonly<Record<string, string | undefined>>): Settings {
  const environment = removeServiceAddresses(variables);
  const settingErrors = Object.keys(environment)
    .filter((name) => name.startsWith('POSTERN_') && !settingNames.includes(name) && !isKubernetesVariable(name))
    .map((name) => `${name} is not a setting`);
  for (const { name, defaultValue, parse } of Object.values(settingDefinitions)) {
    try {
      parse(environment[name] ?? defaultValue);
    } catch (cause) {
      settingErrors.push(`${name} ${cause instanceof Error ? cause.message : 'is wrong'}`);
    }
  }
  if (environment[settingDefinitions.sendfile.name] && !environment[settingDefinitions.trustedProxies.name])
    settingErrors.push(
      `${settingDefinitions.sendfile.name} needs ${settingDefinitions.trustedProxies.name}: only a trusted proxy may receive the paths of files`,
    );
  if (environment[settingDefinitions.smtp.name] && !environment[settingDefinitions.mailFrom.name])
    settingErrors.push(`${settingDefinitions.smtp.name} needs ${settingDefinitions.mailFrom.name}: the address that mails are sent from`);
  if (environment[settingDefinitions.operatorIssuer.name] && !environment[settingDefinitions.operatorClientId.name])
    settingErrors.push(`${settingDefinitions.operatorIssuer.name} needs ${settingDefinitions.operatorClientId.name}`);
  if (settingErrors.length > 0) throw new InvalidSetting(settingErrors.join('\n'));
  checkRoots(environment);
  const readValue = <T>({ name, defaultValue, parse }: Setting<T>): T => parse(environment[name] ?? defaultValue);
  const adminPort = readValue(settingDefinitions.adminPort);
  const host = readValue(settingDefinitions.host);
  const [smtp, from] = [readValue(settingDefinitions.smtp), readValue(settingDefinitions.mailFrom)];
  return {
    port: readValue(settingDefinitions.port),
    host,
    admin: adminPort === null ? null : { port: adminPort, host: readValue(settingDefinitions.adminHost) || host },
    publicUrl: readValue(settingDefinitions.publicUrl),
    publicUrlAliases: readValue(settingDefinitions.publicUrlAliases),
    data: readValue(settingDefinitions.data),
    databaseUrl: readValue(settingDefinitions.databaseUrl),
    searchMemory: readValue(settingDefinitions.searchMemory),
    minFreeSpace: readValue(settingDefinitions.minFreeSpace),
    apiKey: readValue(settingDefinitions.apiKey),
    secretKey: readValue(settingDefinitions.secretKey),
    localRoots: readValue(settingDefinitions.localRoots),
    privateTargets: readValue(settingDefinitions.privateTargets),
    machineCredentials: readValue(settingDefinitions.machineCredentials),
    trustedProxies: readValue(settingDefinitions.trustedProxies),
    sendfile: readValue(settingDefinitions.sendfile),
    mail:
      smtp === null || from === null
        ? null
        : {
            server: smtp,
            ca: readValue(settingDefinitions.smtpCa),
            from,
            language: readValue(settingDefinitions.mailLanguage),
            timeZone: readValue(settingDefinitions.mailTimeZone),
          },
    operatorProvider: readOperatorProvider(readValue),
    maxFileSize: readValue(settingDefinitions.maxFileSize),
    accessLog: readValue(settingDefinitions.accessLog),
    auditDays: readValue(settingDefinitions.auditDays),
  };
}
