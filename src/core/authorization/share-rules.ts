import type { PackedRanges } from './address-range.ts';

/** What admitted visitors may do: the seven flags of the REST API. */
export interface Permissions {
  readonly canView: boolean;
  readonly canDownload: boolean;
  readonly canDownloadFolder: boolean;
  readonly canUpload: boolean;
  readonly canCreateFolder: boolean;
  readonly canRename: boolean;
  readonly canDelete: boolean;
}

/** How the files of a share are protected. `deliver` (delivery.ts) applies it. */
export interface Protection {
  readonly copyProtect: boolean;
  /** Whether visitors may read the text of pages that are sent with a watermark. */
  readonly copyProtectText: boolean;
  readonly waterMarkText: string;
  readonly digitalSignature: boolean;
}

/** The visitors whom a share admits. The code that calls `decide` may leave out list entries that cannot match the visitor. */
export interface Audience {
  readonly allowAllUsers: boolean;
  readonly userNames: readonly string[];
  readonly groupNames: readonly string[];
}

/** The fields of a share that the decision depends on. Times are in milliseconds since the epoch. */
export interface ShareRules extends Permissions, Protection, Audience {
  readonly active: boolean;
  readonly validFrom: number | null;
  readonly validTo: number | null;
}

/** The fields of a login profile that the decision depends on. */
export interface ProfileRules {
  /** False for PUBLIC, whose visitors are anonymous. */
  readonly requiresSignIn: boolean;
  readonly ipRanges: PackedRanges;
}

/** Every name by which an audience may list a signed-in visitor, such as user name, e-mail address and groups. */
export interface VisitorNames {
  readonly names: readonly string[];
  readonly groups: readonly string[];
}

/** The visitor who sends a request. */
export interface Visitor {
  /** null: not specified (share/explain). */
  readonly address: string | null;
  /** null: the visitor has not signed in, or the user is no longer active. */
  readonly identity: VisitorNames | null;
}

/** Returns whether a share is a drop box: visitors may upload files, but see none. */
export function isDropBox(can: Permissions): boolean {
  const otherFlags = [can.canView, can.canDownload, can.canDownloadFolder, can.canCreateFolder, can.canRename, can.canDelete];
  return can.canUpload && !otherFlags.includes(true);
}
