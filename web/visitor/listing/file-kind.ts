import { isOfficeType } from '#core/office-types.ts';
import type { IconName } from '#kit/icons.tsx';
import type { FolderEntry } from './use-folder.ts';

/** How a file is previewed. For `unknown`, the server detects the type from the content. */
export type FileKind = 'image' | 'pdf' | 'office' | 'audio' | 'video' | 'text' | 'unknown';

/** Returns how a file is previewed, by its media type. */
export function fileKind(mediaType: string): FileKind {
  const [family] = mediaType.split('/');
  if (mediaType === 'image/svg+xml') return 'text'; // shown as source: an SVG file can contain scripts
  if (family === 'image') return 'image';
  if (family === 'audio') return 'audio';
  if (family === 'video') return 'video';
  if (mediaType === 'application/pdf') return 'pdf';
  if (isOfficeType(mediaType)) return 'office';
  return family === 'text' ? 'text' : 'unknown';
}

const archives = ['application/zip', 'application/gzip', 'application/x-7z-compressed', 'application/x-tar', 'application/vnd.rar'];
const icons: Record<FileKind, IconName> = {
  image: 'image',
  pdf: 'pdf',
  office: 'file',
  audio: 'audio',
  video: 'media',
  text: 'text',
  unknown: 'file',
};

export function fileIcon({ folder, mediaType }: FolderEntry): IconName {
  if (folder) return 'folder';
  if (archives.includes(mediaType)) return 'archive';
  if (mediaType.includes('spreadsheet') || mediaType.includes('excel') || mediaType === 'text/csv') return 'table';
  return icons[fileKind(mediaType)];
}
