import { resolve } from 'node:path';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { WritingRules } from './disk/disk-storage.ts';
import type { FreeSpaceFloor } from './disk/free-space.ts';
import type { LocationFolder } from './disk/open-folders.ts';

/** The parsed configuration of a location of kind `local`. Its form was checked when it was stored. */
export interface LocalLocation {
  readonly folder: LocationFolder;
  readonly writingRules: WritingRules;
}

interface LocationContext {
  readonly tid: number;
  /** POSTERN_DATA: relative folders are resolved against it. */
  readonly data: string;
  readonly floor: FreeSpaceFloor;
}

/**
 * Returns the absolute path of the folder in a configuration.
 * @param data POSTERN_DATA: relative folders are resolved against it
 * @throws StorageUnavailable if the configuration is empty, because it could not be decrypted
 */
export function configuredFolder(data: string, configuration: string): string {
  const { path, folder = '' }: { path?: string; folder?: string } = JSON.parse(configuration);
  if ((path ?? folder) === '') throw new StorageUnavailable('the configuration of the location has no path');
  return resolve(data, path ?? folder);
}

/** Returns the same path as `configuredFolder`, or null if the configuration has no path. */
export function configuredFolderOrNull(data: string, configuration: string): string | null {
  try {
    return configuredFolder(data, configuration);
  } catch {
    return null;
  }
}

const parseOctal = (value: string | undefined) => (value === undefined ? null : Number.parseInt(value, 8));

/**
 * Parses the configuration of a location of kind `local`.
 * @throws StorageUnavailable if the configuration has no path
 */
export function parseLocalLocation(configuration: string, { tid, data, floor }: LocationContext): LocalLocation {
  const path = configuredFolder(data, configuration);
  const settings: { fileMode?: string; folderMode?: string; group?: number; mountPoint?: boolean } = JSON.parse(configuration);
  const modeAndGroup = {
    fileMode: parseOctal(settings.fileMode),
    folderMode: parseOctal(settings.folderMode),
    group: settings.group ?? null,
  };
  return {
    folder: { tid, path, mountPoint: settings.mountPoint === true },
    writingRules: { floor, modeAndGroup },
  };
}
