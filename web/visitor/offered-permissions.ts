import type { Visit } from '#core/records/visit.ts';
import { fileKind } from './listing/file-kind.ts';

type Share = NonNullable<Visit['share']>;
export type LinkPermissions = Share['can'] & {
  /** Whether only files that can carry a watermark can be opened or downloaded. They are shown as pictures of their pages. */
  readonly onlyMarked: boolean;
  /** Whether the server draws the pages of Office documents. */
  readonly officePages: boolean;
  /** Whether visitors may read the text of the pages that the server draws. */
  readonly pageText: boolean;
};

/** Media types of files that can be downloaded with a watermark. The page goes by the file extension; the server decides by the content. */
const markableTypes = ['application/pdf', 'image/jpeg', 'image/png', 'image/webp'];

/** Returns what the page offers for a file. */
export function filePermissions(can: LinkPermissions, { mediaType }: { readonly mediaType: string }): LinkPermissions {
  if (!can.onlyMarked || markableTypes.includes(mediaType)) return can;
  return { ...can, view: can.view && can.officePages && fileKind(mediaType) === 'office', download: false };
}

/** Returns whether the page lists the files. */
export const showsList = ({ can }: Share) => can.view || can.download;

/**
 * Returns the permissions that the page offers. A protected share has downloads only with a watermark text. Without a list of files, the
 * page has no place for new folders, renaming and deletion. The only change of a single shared file is its replacement.
 */
export function offeredPermissions(share: Share): LinkPermissions {
  const { can, folder } = share;
  const hasList = showsList(share);
  const hasDownloads = !share.marked || share.markedDownload;
  return {
    onlyMarked: share.marked,
    officePages: share.officePages,
    pageText: share.pageText,
    view: can.view,
    download: can.download && hasDownloads,
    downloadFolder: can.downloadFolder && hasDownloads && folder,
    upload: folder ? can.upload : can.upload && can.delete && hasList,
    createFolder: can.createFolder && folder && hasList,
    rename: can.rename && folder && hasList,
    delete: can.delete && folder && hasList,
  };
}
