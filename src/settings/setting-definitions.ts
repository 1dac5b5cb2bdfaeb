import { resolve } from 'node:path';
import { mailSettingDefinitions } from './mail-settings.ts';
import { operatorProviderDefinitions } from './operator-provider-settings.ts';
import { setting } from './setting.ts';
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
  parseProgram,
  parsePublicUrl,
  parseRangesSetting,
  parseSendfile,
  parseTenantIds,
  text,
} from './setting-values.ts';
import { tokenSettingDefinitions } from './token-settings.ts';

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
    'Base address written into links; if not set, the address that Postern listens on, such as `http://localhost:8080`.',
    parseOptional(parsePublicUrl),
  ),
  publicUrlAliases: setting(
    'POSTERN_PUBLIC_URL_ALIASES',
    '',
    'Former base addresses, separated by commas. Links there redirect to POSTERN_PUBLIC_URL; other requests, except health checks, are refused.',
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
    'Folder of the embedded database and of the files with keys. The location `local` is in `files/` within it.',
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
    'MiB of memory for the search texts of tenants, about 200 bytes a share. Texts that do not fit are read from the disk, so searches in them are ten times slower. Not used with PostgreSQL.',
    parseMebibytes,
  ),
  minFreeSpace: setting(
    'POSTERN_MIN_FREE_SPACE',
    '128',
    'MiB that visitors must leave free on the file system of POSTERN_DATA. If less is free, their uploads, new folders and renames are refused with 507; with PostgreSQL, only uploads that need space on this file system. 0: no limit.',
    parseMebibytes,
  ),
  maxUploadSpoolBytes: setting(
    'POSTERN_UPLOAD_SPOOL',
    '20480',
    'MiB that unfinished uploads in parts to WebDAV locations, and to Azure accounts with a hierarchical namespace, may take in `uploads/` in POSTERN_DATA. One tenant can use half of it. Beyond this limit, such uploads are refused with 507.',
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
    'Private addresses that Postern may connect to for a tenant, for example to reach its identity provider: addresses, CIDR blocks and first-last ranges, separated by commas, such as `10.1.2.0/24, 127.0.0.1`.',
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
    'Proxies whose `X-Forwarded-For`, `X-Forwarded-Proto` and `X-Forwarded-Host` headers are trusted: addresses and CIDR blocks such as `127.0.0.1, 10.0.0.0/8`, separated by commas.',
    parseAddresses,
  ),
  sendfile: setting(
    'POSTERN_SENDFILE',
    '',
    '`x-accel-redirect` or `x-sendfile`: the header that makes a trusted proxy on the same machine send large downloads itself (see running.md). Revoking a link does not stop such downloads.',
    parseOptional(parseSendfile),
  ),
  libreOffice: setting(
    'POSTERN_LIBREOFFICE',
    '/usr/bin/soffice',
    'Path of the program `soffice` of LibreOffice, with which the server draws the pages of Office documents (see office.md). If the file does not exist, they are not drawn. `none`: never.',
    parseProgram,
  ),
  ...mailSettingDefinitions,
  ...operatorProviderDefinitions,
  ...tokenSettingDefinitions,
  maxFileSize: setting('POSTERN_MAX_FILE_SIZE', '1099511627776', 'Largest upload, in bytes.', parsePositive),
  accessLog: setting(
    'POSTERN_ACCESS_LOG',
    '',
    'File to which each request adds one line of JSON, or `stdout`. SIGHUP reopens the file. The access log contains no secrets (see logs.md).',
    parseOptional(parseAccessLog),
  ),
  auditDays: setting('POSTERN_AUDIT_DAYS', '400', 'Days after which audit entries are deleted.', parsePositive),
};
