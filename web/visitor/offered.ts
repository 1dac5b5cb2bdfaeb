import type { Visit } from '#core/records/visit.ts';

type Share = NonNullable<Visit['share']>;
/** What a link lets its visitor do. */
export type Can = Share['can'];

/** The files are seen as a list. */
export const lists = ({ can }: Share) => can.view || can.download;

/**
 * What the page offers of what a link allows: nothing that would be refused, and nothing that it has no place for.
 * Protected files are handed out in no form yet; what is done with a row needs the list; a single file is only replaced.
 */
export function offered(share: Share): Can {
  const { can, folder } = share;
  const hands = !share.marked;
  const inList = lists(share);
  return {
    view: can.view && hands,
    download: can.download && hands,
    downloadFolder: can.downloadFolder && hands && folder,
    upload: folder ? can.upload : can.upload && can.delete && inList,
    createFolder: can.createFolder && folder && inList,
    rename: can.rename && folder && inList,
    delete: can.delete && folder && inList,
  };
}
