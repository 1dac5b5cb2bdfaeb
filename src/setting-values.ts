import { isAbsolute, resolve } from 'node:path';
import { parseRanges } from '#core/policy/address-range.ts';

// Each reads the text of a setting. @throws Error that says what would be right

const must = (what: string): never => {
  throw new Error(what);
};

export const port = (text: string) => (/^\d{1,5}$/.test(text) && Number(text) < 65_536 ? Number(text) : must('must be a port, 0 to 65535'));
export const optional =
  <T>(read: (text: string) => T) =>
  (text: string): T | null =>
    text === '' ? null : read(text);
export const text = (value: string) => value;
export const atLeast = (length: number) => (value: string) =>
  value.length >= length ? value : must(`must be at least ${length} characters long`);
// RFC 6750, 2.1: what a Bearer header can carry.
export const bearer = (value: string) =>
  /^[\w\-.~+/]{16,}=*$/.test(value) ? value : must('must be at least 16 characters long, of letters, digits and - . _ ~ + /');
export const positive = (value: string) =>
  /^[1-9]\d{0,15}$/.test(value) && Number.isSafeInteger(Number(value)) ? Number(value) : must('must be a whole number above 0');

export const mebibytes = (value: string) => (/^\d{1,5}$/.test(value) ? Number(value) * 2 ** 20 : must('must be a whole number of MiB'));

export function publicUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : must('must be an address such as https://files.example.com');
  if (!['http:', 'https:'].includes(url.protocol)) must('must begin with http:// or https://');
  if (url.pathname !== '/' || url.search || url.hash || url.username) must('must be an origin alone: no path, query, name or password');
  return url.origin;
}

export function smtpUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : must('must be smtp://user:password@host:port');
  return ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname !== '' ? value : must('must be smtp://user:password@host:port');
}

export const sendfile = (value: string) =>
  value === 'x-accel-redirect' || value === 'x-sendfile' ? value : must('must be x-accel-redirect or x-sendfile');

export const accessLog = (value: string) => (value === 'stdout' ? value : resolve(value));

export function ranges(value: string): string {
  const parsed = parseRanges(value);
  return 'wrong' in parsed ? must(`"${parsed.wrong}" is no address, CIDR block or first-last range`) : value;
}

export const localRoots = (value: string) =>
  value
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)
    .map((entry) => {
      const [, tid, folder] = /^(\d+):(\/.*)$/.exec(entry) ?? must(`"${entry}" must be tid:/folder`);
      return {
        tid: Number(tid),
        folder: isAbsolute(folder ?? '') ? resolve(folder ?? '') : must(`"${entry}" must name an absolute folder`),
      };
    });

export function databaseUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : must('must be postgres://user:password@host:port/database');
  const isOne = ['postgres:', 'postgresql:'].includes(url.protocol) && url.pathname.length > 1;
  return isOne ? value : must('must be postgres://user:password@host:port/database');
}
export const addresses = (value: string) =>
  ranges(value)
    .split(/[\s,]+/)
    .filter(Boolean);
