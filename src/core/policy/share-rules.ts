import type { PackedRanges } from './address-range.ts';

/** What a share allows whoever it admits: the seven flags of the interface. */
export interface Permissions {
  readonly canView: boolean;
  readonly canDownload: boolean;
  readonly canDownloadFolder: boolean;
  readonly canUpload: boolean;
  readonly canCreateFolder: boolean;
  readonly canRename: boolean;
  readonly canDelete: boolean;
}

/** How a file that leaves must be changed first. */
export interface Protection {
  readonly copyProtect: boolean;
  readonly waterMarkText: string;
  readonly digitalSignature: boolean;
}

/** Whom a share admits. The lists need to hold no more entries than could match the visitor asked about. */
export interface Audience {
  readonly allowAllUsers: boolean;
  readonly userNames: readonly string[];
  readonly groupNames: readonly string[];
}

/** All of a share that the decision asks about; times in milliseconds since the epoch. */
export interface ShareRules extends Permissions, Protection, Audience {
  readonly active: boolean;
  readonly validFrom: number | null;
  readonly validTo: number | null;
}

/** All of a login profile that the decision asks about. */
export interface ProfileRules {
  /** False for PUBLIC, whose visitors are nobody in particular. */
  readonly asksSignIn: boolean;
  readonly ipRanges: PackedRanges;
}

/** Who has signed in, by every name that an audience may list: user name, e-mail, the provider's groups. */
export interface Identity {
  readonly names: readonly string[];
  readonly groups: readonly string[];
}

/** Who asks, and from where. */
export interface Visitor {
  /** null where the question leaves it open (share/explain). */
  readonly address: string | null;
  /** null: nobody has signed in, or their user is no longer active. */
  readonly identity: Identity | null;
}

/** A drop box takes files and shows none. */
export function isDropBox(can: Permissions): boolean {
  const others = [can.canView, can.canDownload, can.canDownloadFolder, can.canCreateFolder, can.canRename, can.canDelete];
  return can.canUpload && !others.includes(true);
}
