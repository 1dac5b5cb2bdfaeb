import type { IconName } from '#kit/icons.tsx';
import type { Entry } from './use-folder.ts';

/** How a file is looked at; `unknown`: its bytes will tell. */
export type FileKind = 'image' | 'pdf' | 'sound' | 'video' | 'text' | 'unknown';

/** What a file seems to be, by the media type of its name. */
export function kindOf(mediaType: string): FileKind {
  const [family] = mediaType.split('/');
  if (mediaType === 'image/svg+xml') return 'text'; // shown as what it says, never run
  if (family === 'image') return 'image';
  if (family === 'audio') return 'sound';
  if (family === 'video') return 'video';
  if (mediaType === 'application/pdf') return 'pdf';
  return family === 'text' ? 'text' : 'unknown';
}

const archives = ['application/zip', 'application/gzip', 'application/x-7z-compressed', 'application/x-tar', 'application/vnd.rar'];
const icons: Record<FileKind, IconName> = {
  image: 'image',
  pdf: 'pdf',
  sound: 'sound',
  video: 'media',
  text: 'text',
  unknown: 'file',
};

export function iconOf({ folder, mediaType }: Entry): IconName {
  if (folder) return 'folder';
  if (archives.includes(mediaType)) return 'archive';
  if (mediaType.includes('spreadsheet') || mediaType.includes('excel') || mediaType === 'text/csv') return 'table';
  return icons[kindOf(mediaType)];
}
