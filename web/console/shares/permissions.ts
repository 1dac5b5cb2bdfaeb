import { parseList } from '#core/list-text.ts';
import type { Share } from '#core/records/share.ts';

/** What a share may allow, in the order of its form. */
export const permissions = [
  { flag: 'canView', name: 'Look at files in the page', verb: 'look at' },
  { flag: 'canDownload', name: 'Download files', verb: 'download' },
  { flag: 'canDownloadFolder', name: 'Download folders as a zip', verb: 'download' },
  { flag: 'canUpload', name: 'Upload files', verb: 'upload to' },
  { flag: 'canCreateFolder', name: 'Make folders', verb: 'make folders in' },
  { flag: 'canRename', name: 'Rename', verb: 'rename in' },
  { flag: 'canDelete', name: 'Delete, and replace files', verb: 'delete from' },
] as const;

export type PermissionFlag = (typeof permissions)[number]['flag'];
export type PermissionFlags = Pick<Share, PermissionFlag>;

/** Returns the permissions that a text lists, as the policy of the tenant does. */
export function permissionsOf(text: string): PermissionFlags {
  const names = parseList(text) ?? [];
  return { ...none, ...Object.fromEntries(permissions.map(({ flag }) => [flag, names.includes(flag)])) };
}

const none: PermissionFlags = {
  canView: false,
  canDownload: false,
  canDownloadFolder: false,
  canUpload: false,
  canCreateFolder: false,
  canRename: false,
  canDelete: false,
};

/** What is mostly meant, by one choice. */
export const presets = {
  look: {
    name: 'Look only',
    words: 'Files are shown in the page, without a download. A determined visitor can save what they see.',
    can: { ...none, canView: true },
  },
  download: {
    name: 'Download',
    words: 'Look at and download files, and folders as a zip.',
    can: { ...none, canView: true, canDownload: true, canDownloadFolder: true },
  },
  dropBox: { name: 'Drop box', words: 'Hand files in; what others have handed in is not shown.', can: { ...none, canUpload: true } },
  together: {
    name: 'Work together',
    words: 'Everything: look, download, upload, make folders, rename and delete.',
    can: {
      canView: true,
      canDownload: true,
      canDownloadFolder: true,
      canUpload: true,
      canCreateFolder: true,
      canRename: true,
      canDelete: true,
    },
  },
} as const satisfies Record<string, { name: string; words: string; can: PermissionFlags }>;
export type Preset = keyof typeof presets;
export const presetNames = ['look', 'download', 'dropBox', 'together'] as const satisfies readonly Preset[];

/** The choice that these permissions are; null: none of them. */
export const presetOf = (can: PermissionFlags): Preset | null =>
  presetNames.find((name) => permissions.every(({ flag }) => presets[name].can[flag] === can[flag])) ?? null;
