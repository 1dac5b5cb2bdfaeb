import type { Visit } from '#core/records/visit.ts';

type Share = NonNullable<Visit['share']>;
export type LinkPermissions = Share['can'];

/** Returns whether the page lists the files. */
export const showsList = ({ can }: Share) => can.view || can.download;

/**
 * Returns the permissions that the page offers. Protected files cannot be viewed or downloaded yet. Without the list, the page
 * has no place for new folders, renaming and deletion. A single shared file can only be replaced.
 */
export function offeredPermissions(share: Share): LinkPermissions {
  const { can, folder } = share;
  const isReadable = !share.marked;
  const hasList = showsList(share);
  return {
    view: can.view && isReadable,
    download: can.download && isReadable,
    downloadFolder: can.downloadFolder && isReadable && folder,
    upload: folder ? can.upload : can.upload && can.delete && hasList,
    createFolder: can.createFolder && folder && hasList,
    rename: can.rename && folder && hasList,
    delete: can.delete && folder && hasList,
  };
}
