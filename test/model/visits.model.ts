// A minimal model of what the documentation promises for one link. It uses no code of src.

export const flags = ['canView', 'canDownload', 'canDownloadFolder', 'canUpload', 'canCreateFolder', 'canRename', 'canDelete'] as const;
export type Flag = (typeof flags)[number];
export type Name = 'ann' | 'bob';
type Action = 'visit' | 'list' | 'view' | 'download' | 'downloadFolder' | 'upload' | 'createFolder' | 'rename' | 'delete';

/** The flags that permit each action: one of them is enough. A visit needs none. An upload that replaces a file also needs `canDelete`. */
const sufficientFlags: Record<Action, readonly Flag[]> = {
  visit: [],
  list: ['canView', 'canDownload'],
  view: ['canView'],
  download: ['canDownload'],
  downloadFolder: ['canDownloadFolder'],
  upload: ['canUpload'],
  createFolder: ['canCreateFolder'],
  rename: ['canRename'],
  delete: ['canDelete'],
};

interface User {
  active: boolean;
  /** Increased by each change that ends the user's sessions. */
  epoch: number;
}

interface Session {
  readonly user: User;
  readonly epoch: number;
  readonly createdAt: number;
  usedAt: number;
}

const hour = 3_600_000;

/** Models one share, its login profile, its users, its files and the visitors' browsers. */
export class VisitsModel {
  now: number;
  active = true;
  can: Record<Flag, boolean>;
  from: number | null = null;
  to: number | null = null;
  allowAllUsers = true;
  addressAllowed = true; // whether the addresses of the browsers are in the allowed range
  listedUsers = new Set<User>();
  users = new Map<Name, User>();
  failures = new Map<Name, number>();
  sessions = new Map<number, Session>();
  files = new Map<string, 'file' | 'folder'>([['', 'folder']]);
  readonly requiresSignIn: boolean;

  constructor(now: number, requiresSignIn: boolean) {
    this.now = now;
    this.requiresSignIn = requiresSignIn;
    this.can = Object.fromEntries(flags.map((flag) => [flag, true])) as Record<Flag, boolean>;
  }

  /** Applies the rules that come before the sign-in: whether the share is active, its validity, and the address of the visitor. */
  private linkRefusal(): number | null {
    if (!this.active || (this.from !== null && this.now < this.from)) return 404;
    if (this.to !== null && this.now >= this.to) return 410;
    return this.addressAllowed ? null : 403;
  }

  private signedInUser(browser: number): User | null {
    const session = this.sessions.get(browser);
    if (!session?.user.active || session.epoch !== session.user.epoch) return null;
    if (this.now - session.createdAt >= 12 * hour || this.now - session.usedAt >= hour) return null;
    session.usedAt = this.now;
    return session.user;
  }

  private admits = (user: User | null) => this.allowAllUsers || (user !== null && this.listedUsers.has(user));

  /** Returns the status code that refuses an action before any file is read, or null if the action may continue. */
  private refusal(action: Action, browser: number): number | null {
    const linkRefusal = this.linkRefusal();
    if (linkRefusal !== null) return linkRefusal;
    const user = this.signedInUser(browser);
    if (this.requiresSignIn && !user) return action === 'visit' ? null : 401;
    if (!this.admits(user)) return 403;
    const flagsOfAction = sufficientFlags[action];
    return flagsOfAction.length === 0 || flagsOfAction.some((flag) => this.can[flag]) ? null : 403;
  }

  /** Returns the status code of a visit, and whether the response contains the share. */
  visit(browser: number): { status: number; showsShare: boolean } {
    const refusal = this.refusal('visit', browser);
    return { status: refusal ?? 200, showsShare: refusal === null && (!this.requiresSignIn || this.signedInUser(browser) !== null) };
  }

  /** @returns the status code, or null if the attempt must be skipped, because another failure could cause a delay */
  signIn(browser: number, name: Name, passwordRight: boolean): number | null {
    const user = this.users.get(name);
    const succeeds = passwordRight && user?.active === true;
    const failures = this.failures.get(name) ?? 0;
    if (this.requiresSignIn && !succeeds && failures >= 4) return null;
    const linkRefusal = this.linkRefusal();
    if (linkRefusal !== null) return linkRefusal;
    if (!this.requiresSignIn) return 400;
    if (!succeeds) {
      this.failures.set(name, failures + 1);
      return 401;
    }
    this.failures.delete(name);
    this.sessions.set(browser, { user, epoch: user.epoch, createdAt: this.now, usedAt: this.now });
    return this.admits(user) ? 200 : 403;
  }

  signOut(browser: number): number {
    const linkRefusal = this.linkRefusal();
    if (linkRefusal === null) this.sessions.delete(browser);
    return linkRefusal ?? 204;
  }

  read(action: 'list' | 'view' | 'download' | 'downloadFolder', browser: number, path: string): number {
    const expectedKind = action === 'list' || action === 'downloadFolder' ? 'folder' : 'file';
    return this.refusal(action, browser) ?? (this.files.get(path) === expectedKind ? 200 : 404);
  }

  private parentOf = (path: string) => this.files.get(path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '');

  upload(browser: number, path: string, replaces: boolean): number {
    const refusal = this.refusal('upload', browser);
    if (refusal !== null) return refusal;
    if (replaces && !this.can.canDelete) return 403;
    const dropBox = flags.every((flag) => this.can[flag] === (flag === 'canUpload'));
    if (dropBox ? path.includes('/') : this.parentOf(path) !== 'folder') return 404;
    const present = this.files.get(path);
    if (replaces) return present === 'file' ? 201 : present ? 409 : 412;
    if (present && !dropBox) return 409;
    let storedPath = path;
    for (let number = 2; this.files.has(storedPath); number += 1) storedPath = `${path} (${number})`;
    this.files.set(storedPath, 'file');
    return 201;
  }

  createFolder(browser: number, path: string): number {
    const refusal = this.refusal('createFolder', browser);
    if (refusal !== null) return refusal;
    if (this.parentOf(path) !== 'folder') return 404;
    if (this.files.has(path)) return 409;
    this.files.set(path, 'folder');
    return 201;
  }

  private below = (path: string) => [...this.files].filter(([other]) => other === path || other.startsWith(`${path}/`));

  rename(browser: number, path: string, name: string): number {
    const refusal = this.refusal('rename', browser);
    if (refusal !== null) return refusal;
    if (path === '') return 403;
    if (!this.files.has(path)) return 404;
    const to = path.slice(0, path.lastIndexOf('/') + 1) + name;
    if (this.files.has(to)) return 409;
    for (const [other, kind] of this.below(path)) {
      this.files.delete(other);
      this.files.set(to + other.slice(path.length), kind);
    }
    return 200;
  }

  remove(browser: number, path: string): number {
    const refusal = this.refusal('delete', browser);
    if (refusal !== null) return refusal;
    if (path === '') return 403;
    if (!this.files.has(path)) return 404;
    for (const [other] of this.below(path)) this.files.delete(other);
    return 204;
  }

  setShare(share: {
    active: boolean;
    can: Record<Flag, boolean>;
    from: number | null;
    to: number | null;
    allowAllUsers: boolean;
    names: readonly Name[];
  }): number {
    const users = share.names.map((name) => this.users.get(name));
    if (this.requiresSignIn && users.includes(undefined)) return 400;
    if (share.from !== null && share.to !== null && share.to <= share.from) return 400;
    const { active, can, from, to, allowAllUsers } = share;
    Object.assign(this, { active, can, from, to, allowAllUsers });
    this.listedUsers = new Set(users.filter((user) => user !== undefined));
    return 200;
  }

  /** A user who is created again has no session, and is in no list that named the deleted user. */
  addUser(name: Name): number {
    if (this.users.has(name)) return 409;
    this.users.set(name, { active: true, epoch: 0 });
    return 200;
  }

  changeUser(name: Name, change: 'activate' | 'deactivate' | 'newPassword' | 'delete'): number {
    const user = this.users.get(name);
    if (!user) return 404;
    if (change === 'activate') user.active = true;
    else user.epoch += 1;
    if (change === 'deactivate') user.active = false;
    if (change === 'delete') {
      this.users.delete(name);
      this.listedUsers.delete(user);
    }
    return 200;
  }
}
