import type { OperatorProvider } from '#core/openid/operator-role.ts';
import type { TokenSettings } from '#core/token-settings.ts';
import { removeServiceVariables } from './kubernetes-variables.ts';
import type { MailSettings } from './mail-settings.ts';
import { readOperatorProvider } from './operator-provider-settings.ts';
import type { Setting } from './setting.ts';
import { settingDefinitions } from './setting-definitions.ts';
import { readTokenSettings } from './token-settings.ts';

/** The settings of the server: environment variables, read once at start. */
export interface Settings {
  readonly port: number;
  readonly host: string;
  /** Separate address of the management interface; null: it listens on the same address as the links. */
  readonly admin: { readonly port: number; readonly host: string } | null;
  /** Base address of links; null: the address at which Postern listens, with `localhost` for 127.0.0.1, 0.0.0.0 and ::. */
  readonly publicUrl: string | null;
  /** Former origins of the same server. */
  readonly publicUrlAliases: readonly string[];
  readonly data: string;
  /** null: the embedded database in `data`. */
  readonly databaseUrl: string | null;
  /** Bytes of memory for the search texts of tenants. */
  readonly searchMemory: number;
  /** Bytes that visitors must leave free on the file system of `data`. */
  readonly minFreeSpace: number;
  /** Bytes that unfinished uploads in parts may take in `uploads/` in `data`. */
  readonly maxUploadSpoolBytes: number;
  readonly apiKey: string | null;
  readonly secretKey: string | null;
  readonly localRoots: readonly { readonly tid: number; readonly folder: string }[];
  /** Private networks that Postern may connect to for a tenant, for example for a location or a login profile. */
  readonly privateTargets: string;
  /** Ids of the tenants that may use the credentials of this machine. */
  readonly machineCredentials: readonly number[];
  readonly trustedProxies: readonly string[];
  /** Header that makes a trusted proxy send large files itself; null: Postern sends them. */
  readonly sendfile: 'x-accel-redirect' | 'x-sendfile' | null;
  /** null: Postern sends no mail. */
  readonly mail: MailSettings | null;
  /** null: operators cannot sign in at a provider. */
  readonly operatorProvider: OperatorProvider | null;
  /** null: PDF files are signed only with keys that Postern stores. */
  readonly token: TokenSettings | null;
  /** Path of the program of LibreOffice; null: Office documents are not drawn. */
  readonly libreOffice: string | null;
  readonly maxFileSize: number;
  /** File of the access log, or `stdout`; null: no access log. */
  readonly accessLog: string | null;
  readonly auditDays: number;
}

/** Settings are unknown, invalid, missing, or contradict each other. The message names them and says what is wrong. */
export class InvalidSetting extends Error {}

const settingNames: readonly string[] = Object.values(settingDefinitions).map(({ name }) => name);

const isWithin = (folder: string, outer: string) => folder === outer || folder.startsWith(outer === '/' ? outer : `${outer}/`);

/** Returns an error for each root of locations that overlaps the folder of the database and the keys. Roots in its `files/` are allowed. */
function overlappingRoots(roots: Settings['localRoots'], data: string): string[] {
  return roots
    .filter(({ folder }) => isWithin(data, folder) || (isWithin(folder, data) && !isWithin(folder, `${data}/files`)))
    .map(
      ({ folder }) =>
        `${settingDefinitions.localRoots.name} names ${folder}, which overlaps ${settingDefinitions.data.name} (${data}), where the database and the keys are. Choose a folder that does not contain ${data} and is not in it, except in ${data}/files`,
    );
}

/**
 * Reads the settings from environment variables.
 * @throws InvalidSetting whose message names the invalid variables, and all unknown ones that begin with POSTERN_
 */
export function readSettings(variables: Readonly<Record<string, string | undefined>>): Settings {
  const environment = removeServiceVariables(variables);
  const settingErrors = Object.keys(environment)
    .filter((name) => name.startsWith('POSTERN_') && !settingNames.includes(name))
    .map((name) => `${name} is not a setting`);
  for (const { name, defaultValue, parse } of Object.values(settingDefinitions)) {
    try {
      parse(environment[name] || defaultValue);
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
  for (const { name } of [settingDefinitions.tokenLabel, settingDefinitions.tokenPin])
    if (environment[settingDefinitions.tokenModule.name] && !environment[name])
      settingErrors.push(`${settingDefinitions.tokenModule.name} needs ${name}`);
  if (environment[settingDefinitions.tokenKeyIds.name] && !environment[settingDefinitions.tokenModule.name])
    settingErrors.push(`${settingDefinitions.tokenKeyIds.name} needs ${settingDefinitions.tokenModule.name}`);
  if (settingErrors.length > 0) throw new InvalidSetting(settingErrors.join('\n'));
  const readValue = <T>({ name, defaultValue, parse }: Setting<T>): T => parse(environment[name] || defaultValue); // an empty variable counts as unset
  const [data, localRoots] = [readValue(settingDefinitions.data), readValue(settingDefinitions.localRoots)];
  const rootErrors = overlappingRoots(localRoots, data);
  if (rootErrors.length > 0) throw new InvalidSetting(rootErrors.join('\n'));
  const adminPort = readValue(settingDefinitions.adminPort);
  const host = readValue(settingDefinitions.host);
  const [smtp, from] = [readValue(settingDefinitions.smtp), readValue(settingDefinitions.mailFrom)];
  return {
    port: readValue(settingDefinitions.port),
    host,
    admin: adminPort === null ? null : { port: adminPort, host: readValue(settingDefinitions.adminHost) || host },
    publicUrl: readValue(settingDefinitions.publicUrl),
    publicUrlAliases: readValue(settingDefinitions.publicUrlAliases),
    data,
    databaseUrl: readValue(settingDefinitions.databaseUrl),
    searchMemory: readValue(settingDefinitions.searchMemory),
    minFreeSpace: readValue(settingDefinitions.minFreeSpace),
    maxUploadSpoolBytes: readValue(settingDefinitions.maxUploadSpoolBytes),
    apiKey: readValue(settingDefinitions.apiKey),
    secretKey: readValue(settingDefinitions.secretKey),
    localRoots,
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
    token: readTokenSettings(readValue),
    libreOffice: readValue(settingDefinitions.libreOffice),
    maxFileSize: readValue(settingDefinitions.maxFileSize),
    accessLog: readValue(settingDefinitions.accessLog),
    auditDays: readValue(settingDefinitions.auditDays),
  };
}
