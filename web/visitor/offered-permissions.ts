import type { Visit } from '#core/records/visit.ts';

type Share = NonNullable<Visit['share']>;
/** The permissions of a visitor. */
export type LinkPermissions = Share['can'];

/** Returns whether the page lists the files. */
export const showsList = ({ can }: Share) => can.view || can.download;

/**
 * Returns the permissions that the page offers. Leaves out actions that the server would refuse, and actions without a place on
 * the page: protected files cannot be viewed or downloaded yet, new folders and changes of a row need the list, and the only change of a
 * single file is to replace it.
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
