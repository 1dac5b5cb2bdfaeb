/** An invalid field of a request. */
export interface FieldError {
  /** Name of the field in the interface. */
  readonly field: string;
  /** Says what a valid value is. */
  readonly detail: string;
}

/** All messages that Postern sends to clients. The number of a released message never changes its meaning. */
export const messages = {
  shareAdded: { id: 2001, status: 200, title: 'Share added' },
  shareUpdated: { id: 2002, status: 200, title: 'Share updated' },
  shareLinkUpdated: { id: 2003, status: 200, title: 'Shareable link replaced; the old address has stopped' },
  shareDuplicated: { id: 2004, status: 200, title: 'Share duplicated' },
  shareDeleted: { id: 2005, status: 200, title: 'Share deleted; its files stay' },
  accessUserAdded: { id: 2011, status: 200, title: 'Access user added' },
  accessUserAddedUnused: { id: 2012, status: 200, title: 'Access user added to a login profile that signs in no access users' },
  accessUserUpdated: { id: 2013, status: 200, title: 'Access user updated' },
  accessUserPasswordUpdated: { id: 2014, status: 200, title: 'Password updated; open sessions have ended' },
  accessUserDeleted: { id: 2015, status: 200, title: 'Access user deleted' },
  accessUsersAdded: { id: 2016, status: 200, title: 'Access users added' },
  accessUsersAddedUnused: { id: 2017, status: 200, title: 'Access users added to a login profile that signs in no access users' },
  loginProfileAdded: { id: 2021, status: 200, title: 'Login profile added' },
  loginProfileUpdated: { id: 2022, status: 200, title: 'Login profile updated' },
  loginProfileViewIdUpdated: { id: 2023, status: 200, title: 'View id replaced; the old address has stopped' },
  loginProfileDuplicated: { id: 2024, status: 200, title: 'Login profile duplicated' },
  loginProfileDeleted: { id: 2025, status: 200, title: 'Login profile deleted' },
  loginProfileMadeDefault: { id: 2026, status: 200, title: 'Login profile made the default' },
  apiKeyAdded: { id: 2031, status: 200, title: 'API key added; this is the only time it is shown' },
  apiKeyDeleted: { id: 2032, status: 200, title: 'API key ended, and its tokens with it' },
  locationAdded: { id: 2041, status: 200, title: 'Location added' },
  locationUpdated: { id: 2042, status: 200, title: 'Location updated' },
  locationDeleted: { id: 2043, status: 200, title: 'Location deleted; its files stay' },
  operatorAdded: { id: 2061, status: 200, title: 'Operator added' },
  operatorUpdated: { id: 2062, status: 200, title: 'Operator updated' },
  operatorPasswordUpdated: { id: 2063, status: 200, title: 'Password updated; open sessions of the console have ended' },
  operatorDeleted: { id: 2064, status: 200, title: 'Operator deleted' },
  tenantPolicyUpdated: { id: 2052, status: 200, title: 'Policy updated' },
  tenantAdded: { id: 2051, status: 200, title: 'Tenant added' },

  bodyMalformed: { id: 4001, status: 400, title: 'The body is not JSON' },
  fieldInvalid: { id: 4002, status: 400, title: 'A field is not valid' },
  pathMalformed: { id: 4003, status: 400, title: 'The path is malformed' },
  requestMalformed: { id: 4004, status: 400, title: 'The request is malformed' },
  keyMissing: { id: 4011, status: 401, title: 'An API key is needed' },
  keyWrong: { id: 4012, status: 401, title: 'The API key is wrong or has expired' },
  signInNeeded: { id: 4013, status: 401, title: 'Sign in first' },
  signInWrong: { id: 4014, status: 401, title: 'The name or the password is wrong' },
  roleTooLow: { id: 4031, status: 403, title: 'The role of this key does not reach this operation' },
  currentPasswordWrong: { id: 4032, status: 403, title: 'The current password is wrong' },
  addressRefused: { id: 4033, status: 403, title: 'Not from this address' },
  notAdmitted: { id: 4034, status: 403, title: 'This link is for others' },
  permissionOff: { id: 4035, status: 403, title: 'This link does not allow that' },
  otherSite: { id: 4036, status: 403, title: 'The request came from another site' },
  copyProtected: { id: 4037, status: 403, title: 'These files may be looked at, not taken' },
  cannotBeMarked: { id: 4038, status: 403, title: 'This kind of file cannot be marked, so it is not handed out' },
  rootFixed: { id: 4039, status: 403, title: 'The shared item itself stays as it is' },
  tenantForbidden: { id: 4030, status: 403, title: 'Only an admin of tenant 1 may do this' },
  notFound: { id: 4041, status: 404, title: 'There is no such address' },
  recordUnknown: { id: 4042, status: 404, title: 'There is no such record' },
  linkUnknown: { id: 4043, status: 404, title: 'There is no such link' },
  itemAbsent: { id: 4044, status: 404, title: 'There is no such file or folder' },
  methodWrong: { id: 4051, status: 405, title: 'The address does not take this method' },
  bodyTooSlow: { id: 4081, status: 408, title: 'The body did not come in time' },
  nameTaken: { id: 4091, status: 409, title: 'The name is taken' },
  viewIdTaken: { id: 4092, status: 409, title: 'That view id is taken' },
  viewIdTooShort: { id: 4093, status: 409, title: 'The view id is too short for a link without sign-in' },
  profileInUse: { id: 4094, status: 409, title: 'The login profile is still in use' },
  profileDefault: { id: 4095, status: 409, title: 'The default login profile cannot be deleted' },
  userAmbiguous: { id: 4096, status: 409, title: 'Several login profiles have a user of that name' },
  locationInUse: { id: 4097, status: 409, title: 'The location is still in use' },
  keyFixed: { id: 4098, status: 409, title: 'The key of the environment is not deleted by REST' },
  idempotencyReused: { id: 4099, status: 409, title: 'The Idempotency-Key was used for another request' },
  idempotencyRunning: { id: 4090, status: 409, title: 'A request with this Idempotency-Key is still running' },
  locationsChanged: { id: 4086, status: 409, title: 'A location was added or changed at the same moment; try again' },
  locationsTooMany: { id: 4085, status: 409, title: 'The tenant has as many locations as it can have' },
  itemExists: { id: 4089, status: 409, title: 'The name exists' },
  operatorLast: { id: 4088, status: 409, title: 'One admin must remain among the operators' },
  archiveTooDeep: { id: 4087, status: 409, title: 'The folders are nested too deep for an archive' },
  linkEnded: { id: 4101, status: 410, title: 'This link has ended' },
  firstAddressEnded: {
    id: 4102,
    status: 410,
    title: 'This address has been used, or is older than an hour; start Postern anew for another',
  },
  versionStale: { id: 4121, status: 412, title: 'The record has changed since it was read' },
  itemStale: { id: 4122, status: 412, title: 'The file has changed since it was read' },
  bodyTooLarge: { id: 4131, status: 413, title: 'The body is too large' },
  fileTooLarge: { id: 4132, status: 413, title: 'The file is larger than is accepted here' },
  contentTypeWrong: { id: 4151, status: 415, title: 'The body must be application/json' },
  cannotBeViewed: { id: 4152, status: 415, title: 'This kind of file cannot be looked at here' },
  rangeUnsatisfiable: { id: 4161, status: 416, title: 'The range lies outside the file' },
  expectationUnknown: { id: 4171, status: 417, title: 'Only 100-continue can be expected' },
  hostWrong: { id: 4211, status: 421, title: 'Links are answered under another address' },
  tooManyFailures: { id: 4291, status: 429, title: 'Too many failed attempts; wait a little' },
  tooManyConflicts: { id: 4292, status: 429, title: 'Too many view ids that were taken; wait a little' },
  headersTooLarge: { id: 4311, status: 431, title: 'The headers are too large' },
  unexpected: { id: 5001, status: 500, title: 'Something went wrong on our side' },
  storeAway: { id: 5031, status: 503, title: 'The database does not answer' },
  storageAway: { id: 5032, status: 503, title: 'The place where the files lie does not answer' },
  signInUnavailable: { id: 5033, status: 503, title: 'This kind of sign-in is not available yet' },
  markingUnavailable: { id: 5034, status: 503, title: 'Marked files cannot be made yet, and unmarked ones are not handed out' },
  signingUnavailable: { id: 5035, status: 503, title: 'Signed files cannot be made yet, and unsigned ones are not handed out' },
  signInBusy: { id: 5036, status: 503, title: 'Too many people are signing in at this moment' },
  listingBusy: { id: 5038, status: 503, title: 'Too many folders are being listed at this moment' },
  searchBusy: { id: 5040, status: 503, title: 'Too many searches are under way at this moment' },
  uploadsBusy: { id: 5039, status: 503, title: 'Too many uploads are under way from your network, or at this link' },
  changesBusy: { id: 5041, status: 503, title: 'Too many changes of files are waiting, from your network or at this link' },
  bodiesBusy: { id: 5042, status: 503, title: 'Too many large bodies are waiting to be read' },
  descriptorsUsedUp: { id: 5030, status: 503, title: 'Too many files and connections are open at this moment' },
  stopping: { id: 5037, status: 503, title: 'Postern is stopping' },
  storageFull: { id: 5071, status: 507, title: 'The disk is full' },
} as const satisfies Record<string, { id: number; status: number; title: string }>;
export type MessageName = keyof typeof messages;

/** Additional data of a refusal. */
export interface RefusalExtras {
  readonly fieldErrors?: readonly FieldError[];
  /** Seconds until the client may try again (RFC 9110, 10.2.3). */
  readonly retryAfter?: number;
  /** Size of the file in bytes, for a range that lies outside of it (RFC 9110, 14.4). */
  readonly fileSize?: number;
  /** Methods that the address supports (RFC 9110, 10.2.1). */
  readonly allow?: string;
}

/**
 * A refused request: the client gets the message. An error that is neither a Refusal nor converted to one (http/problem.ts) is
 * a bug: the client gets only 500 and an incident id.
 */
export class Refusal extends Error {
  readonly messageName: MessageName;
  readonly extras: RefusalExtras;
  constructor(messageName: MessageName, detail?: string, extras: RefusalExtras = {}) {
    super(detail ?? messages[messageName].title);
    this.messageName = messageName;
    this.extras = extras;
  }
}

/** Returns a refusal with status 400 that names one field. */
export const fieldRefusal = (field: string, detail: string) =>
  new Refusal('fieldInvalid', `${field}: ${detail}`, { fieldErrors: [{ field, detail }] });

/**
 * Runs checks that do not depend on each other, one after the other.
 * @throws Refusal `fieldInvalid` with the field errors of all checks (decisions.md, Bodies and answers)
 */
export async function runChecks(...checks: readonly (() => unknown)[]): Promise<void> {
  const fieldErrors: FieldError[] = [];
  for (const check of checks) {
    try {
      await check();
    } catch (cause) {
      if (!(cause instanceof Refusal) || cause.messageName !== 'fieldInvalid') throw cause;
      fieldErrors.push(...(cause.extras.fieldErrors ?? []));
    }
  }
  if (fieldErrors.length > 0) throw refusalOf(fieldErrors);
}

const refusalOf = (fieldErrors: readonly FieldError[]) =>
  new Refusal('fieldInvalid', fieldErrors.map(({ field, detail }) => `${field}: ${detail}`).join('; '), { fieldErrors });

/** Runs synchronous checks as `checkTogether` does. @throws Refusal `fieldInvalid` with the field errors of all checks */
export function runChecksSync(...checks: readonly (() => unknown)[]): void {
  const fieldErrors = checks.flatMap((check) => {
    try {
      check();
      return [];
    } catch (cause) {
      if (!(cause instanceof Refusal) || cause.messageName !== 'fieldInvalid') throw cause;
      return cause.extras.fieldErrors ?? [];
    }
  });
  if (fieldErrors.length > 0) throw refusalOf(fieldErrors);
}
