import { isAbsolute } from 'node:path';
import type { TokenSettings } from '#core/token-settings.ts';
import { type Setting, setting } from './setting.ts';
import { fail, parseOptional, text } from './setting-values.ts';

const parseModule = (value: string) => (isAbsolute(value) ? value : fail('must be an absolute path'));

/** Parses a list such as `1:0a, 1:0b, 2:0c`. Each entry is the id of a tenant and the id of a key that the tenant may use. */
function parseKeyIds(value: string): ReadonlyMap<number, readonly string[]> {
  const keyIds = new Map<number, string[]>();
  for (const entry of value.split(',').map((part) => part.trim())) {
    if (entry === '') continue;
    const [, tid = '', keyId = ''] = /^([1-9]\d{0,14}):((?:[\da-fA-F]{2}){1,32})$/.exec(entry) ?? [];
    if (keyId === '') fail(`contains "${entry}", but needs ids of tenants and hexadecimal ids of keys, such as 1:0a`);
    const known = keyIds.get(Number(tid)) ?? [];
    if (known.includes(keyId.toLowerCase())) fail(`names "${entry}" twice`);
    keyIds.set(Number(tid), [...known, keyId.toLowerCase()]);
  }
  return keyIds;
}

export const tokenSettingDefinitions = {
  tokenModule: setting(
    'POSTERN_PKCS11_MODULE',
    '',
    'Path of the PKCS #11 library of a hardware security module or smart card, with whose keys PDF files can be signed (see signatures.md).',
    parseOptional(parseModule),
  ),
  tokenLabel: setting('POSTERN_PKCS11_TOKEN', '', 'Label of the token.', text),
  tokenPin: setting('POSTERN_PKCS11_PIN', '', 'PIN of the token.', text),
  tokenKeyIds: setting(
    'POSTERN_PKCS11_KEYS',
    '',
    'The keys of the token with which each tenant may sign: `1:0a, 2:0b` lets tenant 1 use the key with the id 0a, and tenant 2 that with the id 0b.',
    parseKeyIds,
  ),
};

/** Returns the PKCS #11 token of the server, or null. */
export function readTokenSettings(readValue: <T>(setting: Setting<T>) => T): TokenSettings | null {
  const module = readValue(tokenSettingDefinitions.tokenModule);
  if (module === null) return null;
  return {
    module,
    label: readValue(tokenSettingDefinitions.tokenLabel),
    pin: readValue(tokenSettingDefinitions.tokenPin),
    keyIds: readValue(tokenSettingDefinitions.tokenKeyIds),
  };
}
