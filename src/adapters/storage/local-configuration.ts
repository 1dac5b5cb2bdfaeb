import { resolve } from 'node:path';
import { StorageAway } from '#ports/storage.ts';
import type { WritingRules } from './disk/disk-storage.ts';
import type { FreeSpaceFloor } from './disk/free-space.ts';
import type { LocationFolder } from './disk/open-folders.ts';

/** What a location of kind `local` says of its folder. Its form was checked when it was stored. */
export interface LocalLocation {
  readonly folder: LocationFolder;
  readonly writing: WritingRules;
}

interface Around {
  readonly tid: number;
  /** POSTERN_DATA: where a folder lies that is not absolute. */
  readonly data: string;
  readonly floor: FreeSpaceFloor;
}

/**
 * The folder that a configuration names.
 * @param data POSTERN_DATA: where a folder lies that is not absolute
 * @throws StorageAway where it names none: its configuration was forgotten with the key that sealed it
 */
export function folderIn(data: string, configuration: string): string {
  const parsed: unknown = JSON.parse(configuration);
  const folder = typeof parsed === 'object' && parsed !== null && 'folder' in parsed ? parsed.folder : '';
  if (typeof folder !== 'string' || folder === '') throw new StorageAway('the location names no folder');
  return resolve(data, folder);
}

/** The same; null where it names none. */
export function folderOrNull(data: string, configuration: string): string | null {
  try {
    return folderIn(data, configuration);
  } catch {
    return null;
  }
}

const octal = (value: string | undefined) => (value === undefined ? null : Number.parseInt(value, 8));

/** @throws StorageAway where the configuration names no folder */
export function localLocation(configuration: string, { tid, data, floor }: Around): LocalLocation {
  const path = folderIn(data, configuration);
  const parsed: { fileMode?: string; folderMode?: string; group?: number; mountPoint?: boolean } = JSON.parse(configuration);
  return {
    folder: { tid, path, mountPoint: parsed.mountPoint === true },
    writing: { floor, ownership: { fileMode: octal(parsed.fileMode), folderMode: octal(parsed.folderMode), group: parsed.group ?? null } },
  };
}
