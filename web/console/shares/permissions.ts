import { parseList } from '#core/list-text.ts';
import type { Share } from '#core/records/share.ts';

/** The permissions of a share, in the order of its form. */
export const permissions = [
  { flag: 'canView', name: 'View files in the browser', verb: 'view' },
  { flag: 'canDownload', name: 'Download files', verb: 'download' },
  { flag: 'canDownloadFolder', name: 'Download folders as ZIP', verb: 'download' },
  { flag: 'canUpload', name: 'Upload files', verb: 'upload' },
  { flag: 'canCreateFolder', name: 'Create folders', verb: 'create folders' },
  { flag: 'canRename', name: 'Rename files and folders', verb: 'rename' },
  { flag: 'canDelete', name: 'Delete files and folders; with “Upload files”, also replace files', verb: 'delete' },
] as const;

export type PermissionFlag = (typeof permissions)[number]['flag'];
export type PermissionFlags = Pick<Share, PermissionFlag>;

/** Returns the permissions that a list names, such as the list in the tenant's policy. */
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

/** The usual combinations of permissions. */
export const permissionPresets = {
  view: {
    name: 'View only',
    description: 'Visitors see files in the browser, but cannot download them. They can still save what they see.',
    can: { ...none, canView: true },
  },
  download: {
    name: 'Download',
    description: 'View and download files, and download folders as ZIP.',
    can: { ...none, canView: true, canDownload: true, canDownloadFolder: true },
  },
  dropBox: { name: 'Drop box', description: 'Visitors upload files. They do not see any files.', can: { ...none, canUpload: true } },
  collaborate: {
    name: 'Collaborate',
    description: 'All permissions: view, download, upload, create folders, rename and delete.',
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
} as const satisfies Record<string, { name: string; description: string; can: PermissionFlags }>;
export type PermissionPreset = keyof typeof permissionPresets;
export const permissionPresetNames = ['view', 'download', 'dropBox', 'collaborate'] as const satisfies readonly PermissionPreset[];

/** Returns the preset with exactly these permissions, or null. */
export const permissionPresetOf = (can: PermissionFlags): PermissionPreset | null =>
  permissionPresetNames.find((name) => permissions.every(({ flag }) => permissionPresets[name].can[flag] === can[flag])) ?? null;
