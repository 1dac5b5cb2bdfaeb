import type { Refusal } from '#core/messages.ts';
import type { ProfileType } from '#core/records/login-profile.ts';
import type { Tx } from './store.ts';

/** Who has signed in, as the kind of sign-in has determined. Sessions store the identity as JSON. */
export interface Identity {
  /** Identifies the visitor within the login profile. It never changes, and no other visitor ever gets it. Not empty. */
  readonly subject: string;
  /** Display name. Visitors may be able to choose it, so no rule depends on it. */
  readonly name: string;
  /** E-mail address that an operator or a trusted provider states, or that the visitor has proved with a code; empty: none. */
  readonly email: string;
  /** Every name by which the list of a share may admit the visitor. */
  readonly names: readonly string[];
  readonly groups: readonly string[];
}

/** What every sign-in needs of a login profile. Methods that read a provider's configuration throw Refusal (400) if the epoch differs. */
export interface ProfileRef {
  readonly tid: number;
  readonly profile_id: number;
  readonly type_id: number;
  readonly session_epoch: number;
  readonly profile_username: string;
}

/** A completed sign-in. It ends when the session epoch of its login profile changes, or its kind ends it (`reauthenticate`, `renew`). */
export interface CompletedSignIn {
  readonly identity: Identity;
  /** When the identity was verified, or the provider stated it; ms since the epoch. */
  readonly claimsAt: number;
  /** Session epoch of the login profile when the visitor was verified. */
  readonly profileEpoch: number;
  /** The access user whom the visitor has signed in as, with their session epoch; null: the visitor is not an access user. */
  readonly user: { readonly id: number; readonly epoch: number } | null;
  /** What the kind needs to ask the provider again, encrypted. Absent: the sign-in cannot be renewed. */
  readonly renewal?: string;
  /** Name that the provider gives to the session; empty: none. Absent: the provider cannot end the session. */
  readonly providerSession?: string;
  /** When the session must end, as the provider demands; ms since the epoch. Absent: the provider demands no end. */
  readonly endsAt?: number;
}

/** A completed sign-in whose statement by the provider may be used only once. */
export interface SingleUseSignIn extends CompletedSignIn {
  /** Marks the statement as used, in the transaction that begins the session, or after a test. @returns false if it was used before */
  readonly markStatementUsed: (tx: Tx) => Promise<boolean>;
}

export interface PasswordCredentials {
  readonly username: string;
  readonly password: string;
}

/** One try to sign in. */
export interface SignInAttempt {
  /** Address of the client. */
  readonly address: string;
  /**
   * Runs the verification and counts it as a failed attempt if it returns null. A kind that waits for a turn calls this when
   * the turn comes, so that waiting attempts do not read the same counts.
   * @throws Refusal (401) if the verification returns null; (429) during the delay after failed attempts
   */
  countAttempt(verify: () => Promise<CompletedSignIn | null>): Promise<CompletedSignIn>;
}

/** Sign-in with a password, at the sign-in page or by `Authorization: Basic`. */
export interface PasswordSignIn {
  /** Returns whether visitors must enter a user name. */
  requiresUsername(profile: ProfileRef): boolean;
  /** Returns the name by which failed attempts are counted. Empty: all visitors of the profile share one password. */
  attemptName(username: string): string;
  /**
   * Verifies the credentials within `attempt.countAttempt`. An unknown name, a wrong password and an inactive user take the same time
   * and get the same response.
   * @throws Refusal (401, 429), see `SignInAttempt`; (403) without the required group; (503) if busy or if the directory is away; (400)
   */
  verify(profile: ProfileRef, credentials: PasswordCredentials, attempt: SignInAttempt): Promise<CompletedSignIn>;
  /**
   * Replaces the password of the visitor and ends their other sign-ins. Absent: visitors cannot replace it here.
   * @param current a sign-in with the current password
   * @param hash hash of the new password
   * @returns the sign-in with the new password; null: another password was set meanwhile
   */
  replacePassword?(tx: Tx, profile: ProfileRef, current: CompletedSignIn, hash: string, now: number): Promise<CompletedSignIn | null>;
  /** Absent: a visitor who has forgotten the password cannot set a new one. */
  readonly reset?: PasswordReset;
}

/** The place of a sign-in with a code: a code is valid only in the browser and at the link where it was requested. */
export interface CodePlace {
  /** Random token in a cookie of the browser. */
  readonly browser: string;
  /** The viewId of the share or portal. */
  readonly viewId: string;
}

export interface CodeRequest extends CodePlace {
  readonly email: string;
  /** Address of the page at which the visitor enters the code. */
  readonly pageUrl: string;
  /** Share that the link belongs to; null: a portal. */
  readonly shareId: number | null;
  readonly language: string;
  /** Address of the client. */
  readonly address: string;
}

export interface CodeCredentials extends CodePlace {
  readonly email: string;
  readonly code: string;
  /** Address of the client. */
  readonly address: string;
}

/** Sign-in with a code that is sent by e-mail. */
export interface CodeSignIn {
  /**
   * Enqueues a mail with a new code, unless the mailbox has reached its limit for one hour. A new code replaces the earlier ones of its
   * browser and link. Does the same for every address: whether the address may sign in is checked when the mail is sent.
   * @throws Refusal (503) if no mail can be sent
   */
  request(profile: ProfileRef, request: CodeRequest): Promise<void>;
  /** Verifies a code and uses it up. Returns null for a wrong or an expired code, after too many attempts, and for a wrong address. */
  verify(profile: ProfileRef, credentials: CodeCredentials): Promise<CompletedSignIn | null>;
}

/** Lets visitors who have forgotten their password set a new one, with a code that is sent by e-mail. */
export interface PasswordReset {
  /** Enqueues a mail with a code, see `CodeSignIn.request`. */
  request(profile: ProfileRef, request: CodeRequest): Promise<void>;
  /** Returns whether the browser has a code at this link that can still be used. Without one, no password needs to be hashed. */
  hasCode(profile: ProfileRef, place: CodePlace): Promise<boolean>;
  /**
   * Verifies a code, uses it up, and replaces the password of its visitor. Counts an attempt with a wrong code: the caller must commit
   * even if the result is null.
   */
  redeem(tx: Tx, profile: ProfileRef, credentials: CodeCredentials, hash: string, now: number): Promise<CompletedSignIn | null>;
}

/** A sign-in that Postern has begun, and the data that completes it. A cookie keeps `state` and `pending`, encrypted. */
export interface StartedSignIn {
  /** Address to which the browser is sent. */
  readonly url: string;
  /** Identifies this sign-in in the address with which the browser comes back. */
  readonly state: string;
  /** What the kind needs to complete the sign-in, as text. */
  readonly pending: string;
}

/** What a browser brings back from a provider. */
export interface BrowserReturn {
  /** Address of this profile to which browsers come back. */
  readonly redirectUrl: string;
  /** The query or the form. */
  readonly parameters: URLSearchParams;
  /** Address of the client. */
  readonly address: string;
  /** Called with what the provider has sent, before the kind checks whether the visitor is admitted. For tests by an admin. */
  readonly onStatement?: (stated: StatedValues) => void;
}

/** What a provider sends about a user, by the names of claims or attributes. */
export type StatedValues = Readonly<Record<string, unknown>>;

/** How a provider ends the sessions of its users, and how they sign out there. */
export interface ProviderSignOut {
  /**
   * Returns the address at which the browser signs out at the provider too; null: the provider has none.
   * @param pageUrl address to which the provider sends the browser back
   * @throws if the provider or its metadata cannot be used
   */
  url(profile: ProfileRef, pageUrl: string): Promise<string | null>;
  /**
   * Verifies the provider's statement that a user has signed out.
   * @returns `subject`, empty if only a session is named; `providerSession`: its name, empty for all sessions of the subject
   * @throws Refusal (400) if the statement is not valid; (503) if the provider is not available
   */
  verify(profile: ProfileRef, statement: string): Promise<{ readonly subject: string; readonly providerSession: string }>;
}

/** Sign-in at a provider to which the browser is sent, and from which it comes back. */
export interface RedirectSignIn {
  /** Segment of the addresses to which browsers come back. */
  readonly protocol: 'oidc' | 'saml';
  /**
   * Begins a sign-in. Stores nothing.
   * @param redirectUrl address of this profile to which the browser comes back
   * @throws Refusal (400); (401) if the provider's metadata or the client's settings are refused; (503) if the provider is not available
   */
  begin(profile: ProfileRef, redirectUrl: string): Promise<StartedSignIn>;
  /**
   * Completes a sign-in with what the browser has brought back.
   * @param pending what `begin` has returned; null: this browser has begun no sign-in
   * @returns a Refusal (401) if the provider or a check refuses what the browser has brought back. It counts as an attempt, because
   *   visitors can cause it
   * @throws Refusal (400) if the profile has changed, or the request lacks what the kind needs; (401) if the provider itself sends a wrong
   *   response, or its statement admits nobody; (503) if it is not available or too many wait
   */
  finish(profile: ProfileRef, response: BrowserReturn, pending: string | null): Promise<CompletedSignIn | SingleUseSignIn | Refusal>;
  /**
   * Verifies what a browser sent without its cookies, and stores it for its next request. Present if the page of the provider sends
   * the browser back with a POST. A browser sends cookies with such a POST only over HTTPS.
   * @returns a reference for the parameter `parked` of the next request. If the response was refused, `finish` throws the refusal that the
   *   reference contains
   */
  park?(profile: ProfileRef, response: BrowserReturn): Promise<string>;
  /** Returns whether a sign-in may begin at the provider. Such a sign-in leads to the portal. Absent: none may begin there. */
  mayBeginAtProvider?(profile: ProfileRef): Promise<boolean>;
  readonly signOut?: ProviderSignOut;
}

/**
 * Asks a provider again about a visitor who has signed in. Separate from `reauthenticate`, which runs at every request and
 * therefore must not ask the provider.
 */
export interface Renewal {
  /** Returns the time in ms since the renewal became due. Negative: it is not due yet, or the sign-in cannot be renewed. */
  overdueTime(signIn: CompletedSignIn): number;
  /**
   * Asks the provider.
   * @param storeRenewal stores a new value of `renewal` during the renewal
   * @returns the sign-in with the current identity
   * @throws Refusal (401) if the provider no longer admits the visitor; (400) if the profile has changed; (503) if it is not available
   */
  renew(profile: ProfileRef, signIn: CompletedSignIn, storeRenewal: (renewal: string) => Promise<void>): Promise<CompletedSignIn>;
}

/** One kind of sign-in. It has a member for each way to sign in that it supports. */
export interface SignInKind {
  readonly password?: PasswordSignIn;
  readonly code?: CodeSignIn;
  readonly redirect?: RedirectSignIn;
  /**
   * Checks a sign-in again, at each later request and during transfers. The caller has compared the epoch of the profile.
   * @returns the sign-in with the current identity, whose subject is the same; null: the sign-in has ended
   */
  reauthenticate(profile: ProfileRef, signIn: CompletedSignIn): Promise<CompletedSignIn | null>;
  readonly renewal?: Renewal;
}

/** A type of login profile with sign-in. */
export type SignInType = Exclude<ProfileType, 'PUBLIC'>;

/** The kinds of sign-in by the type of login profile. */
export type SignInKinds = Readonly<Record<SignInType, SignInKind>>;
