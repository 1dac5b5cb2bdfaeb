import { isAbsolute, resolve } from 'node:path';
import { parseRanges } from '#core/authorization/address-range.ts';

// Parsers of the texts of settings. @throws Error whose message says what is allowed

export const fail = (message: string): never => {
  throw new Error(message);
};

export const parsePort = (value: string) =>
  /^\d{1,5}$/.test(value) && Number(value) < 65_536 ? Number(value) : fail('must be a port, 0 to 65535');
export const parseOptional =
  <T>(parse: (text: string) => T) =>
  (text: string): T | null =>
    text === '' ? null : parse(text);
export const text = (value: string) => value;
export const parseMinLength = (length: number) => (value: string) =>
  value.length >= length ? value : fail(`must be at least ${length} characters long`);
// RFC 6750, 2.1: the characters that a Bearer header can contain.
export const parseBearerKey = (value: string) =>
  /^[\w\-.~+/]{16,}=*$/.test(value) ? value : fail('must have at least 16 characters: letters, digits and - . _ ~ + /; after them, also =');
export const parsePositive = (value: string) =>
  /^[1-9]\d{0,15}$/.test(value) && Number.isSafeInteger(Number(value)) ? Number(value) : fail('must be a whole number above 0');

export const parseMebibytes = (value: string) =>
  /^\d{1,5}$/.test(value) ? Number(value) * 2 ** 20 : fail('must be a whole number of MiB, at most 99999');

export function parsePublicUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : fail('must be an address such as https://files.example.com');
  if (!['http:', 'https:'].includes(url.protocol)) fail('must begin with http:// or https://');
  if (url.pathname !== '/' || url.search || url.hash || url.username || url.password)
    fail('must be an origin without path, query, user name or password');
  return url.origin;
}

export const parseSendfile = (value: string) =>
  value === 'x-accel-redirect' || value === 'x-sendfile' ? value : fail('must be x-accel-redirect or x-sendfile');

export const parseAccessLog = (value: string) => (value === 'stdout' ? value : resolve(value));

export const parseProgram = (value: string) => {
  if (value === 'none') return null;
  return isAbsolute(value) ? value : fail('must be an absolute path, or `none`');
};

export function parseRangesSetting(value: string): string {
  const ranges = parseRanges(value);
  return 'invalidEntry' in ranges ? fail(`"${ranges.invalidEntry}" is not an address, a CIDR block or a first-last range`) : value;
}

export const parseLocalRoots = (value: string) =>
  value
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)
    .map((entry) => {
      const [, tid, folder] =
        /^([1-9]\d{0,14}):(\/.*)$/.exec(entry) ?? fail(`"${entry}" must be a tenant id and an absolute folder, such as 1:/srv/files`);
      return {
        tid: Number(tid),
        folder: isAbsolute(folder ?? '') ? resolve(folder ?? '') : fail(`"${entry}" must name an absolute folder`),
      };
    });

export const parseTenantIds = (value: string) =>
  value
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)
    .map((entry) => (/^[1-9]\d{0,14}$/.test(entry) ? Number(entry) : fail(`"${entry}" must be the id of a tenant`)));

export function parseDatabaseUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : fail('must be postgres://user:password@host:port/database');
  const isPostgres = ['postgres:', 'postgresql:'].includes(url.protocol) && url.pathname.length > 1;
  return isPostgres ? value : fail('must be postgres://user:password@host:port/database');
}
export const parseAddresses = (value: string) =>
  parseRangesSetting(value)
    .split(/[\s,]+/)
    .filter(Boolean);
