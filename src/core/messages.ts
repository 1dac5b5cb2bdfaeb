/** An invalid field of a request. */
export interface FieldError {
  /** Name of the field in the REST API. */
  readonly field: string;
  /** Says what a valid value is. */
  readonly detail: string;
}

/** All messages that Postern sends to clients. The number of a released message never changes its meaning. */
export const messages = {
  shareAdded: { id: 2001, status: 200, title: 'Share added' },
  shareUpdated: { id: 2002, status: 200, title: 'Share updated' },
  shareLinkUpdated: { id: 2003, status: 200, title: 'Link replaced. The old address no longer works' },
  shareDuplicated: { id: 2004, status: 200, title: 'Share duplicated' },
  shareDeleted: { id: 2005, status: 200, title: 'Share deleted. Its files were not deleted' },
  shareInvited: { id: 2006, status: 200, title: 'Invitations will be sent' },
  accessUserAdded: { id: 2011, status: 200, title: 'Access user added' },
  accessUserAddedUnused: {
    id: 2012,
    status: 200,
    title: 'Access user added. This login profile does not use access users, so the user cannot sign in with it',
  },
  accessUserUpdated: { id: 2013, status: 200, title: 'Access user updated' },
  accessUserPasswordUpdated: { id: 2014, status: 200, title: 'Password updated. The user was signed out everywhere' },
  accessUserDeleted: { id: 2015, status: 200, title: 'Access user deleted' },
  accessUsersAdded: { id: 2016, status: 200, title: 'Access users added' },
  accessUsersAddedUnused: {
    id: 2017,
    status: 200,
    title: 'Access users added. This login profile does not use access users, so they cannot sign in with it',
  },
  loginProfileAdded: { id: 2021, status: 200, title: 'Login profile added' },
  loginProfileUpdated: { id: 2022, status: 200, title: 'Login profile updated' },
  loginProfileViewIdUpdated: { id: 2023, status: 200, title: 'Portal address replaced. The old address no longer works' },
  loginProfileDuplicated: { id: 2024, status: 200, title: 'Login profile duplicated' },
  loginProfileDeleted: { id: 2025, status: 200, title: 'Login profile deleted' },
  loginProfileMadeDefault: { id: 2026, status: 200, title: 'Login profile set as default' },
  apiKeyAdded: { id: 2031, status: 200, title: 'API key added. Copy it now: it is not shown again' },
  apiKeyDeleted: { id: 2032, status: 200, title: 'API key deleted. Its tokens no longer work' },
  locationAdded: { id: 2041, status: 200, title: 'Location added' },
  locationUpdated: { id: 2042, status: 200, title: 'Location updated' },
  locationDeleted: { id: 2043, status: 200, title: 'Location deleted. Its files were not deleted' },
  tenantAdded: { id: 2051, status: 200, title: 'Tenant added' },
  tenantPolicyUpdated: { id: 2052, status: 200, title: 'Policy updated' },
  operatorAdded: { id: 2061, status: 200, title: 'Operator added' },
  operatorUpdated: { id: 2062, status: 200, title: 'Operator updated' },
  operatorPasswordUpdated: { id: 2063, status: 200, title: 'Password updated. The operator was signed out of the console everywhere' },
  operatorUnlinked: { id: 2069, status: 200, title: 'Operator disconnected from the provider, and signed out of the console everywhere' },
  operatorDeleted: { id: 2064, status: 200, title: 'Operator deleted' },
  secondFactorAdded: { id: 2065, status: 200, title: 'Second factor added' },
  secondFactorDeleted: { id: 2066, status: 200, title: 'Second factor removed' },
  recoveryCodesRenewed: { id: 2067, status: 200, title: 'New recovery codes created. Copy them now: they are not shown again' },
  secondFactorsReset: { id: 2068, status: 200, title: 'Second factors removed. The operator was signed out of the console everywhere' },
  signatureUpdated: { id: 2053, status: 200, title: 'Certificate stored' },
  signatureDeleted: { id: 2054, status: 200, title: 'Certificate deleted. PDF files that must be signed cannot be downloaded' },
  mailRetried: { id: 2071, status: 200, title: 'E-mail will be sent again' },
  mailDropped: { id: 2072, status: 200, title: 'E-mail dropped. It will not be sent' },

  bodyMalformed: { id: 4001, status: 400, title: 'The body is malformed' },
  fieldInvalid: { id: 4002, status: 400, title: 'A field is not valid' },
  pathMalformed: { id: 4003, status: 400, title: 'The path is malformed' },
  requestMalformed: { id: 4004, status: 400, title: 'The request is malformed' },
  keyMissing: { id: 4011, status: 401, title: 'An API key is required' },
  keyWrong: { id: 4012, status: 401, title: 'The API key is wrong or has expired' },
  signInNeeded: { id: 4013, status: 401, title: 'Sign in first' },
  signInWrong: { id: 4014, status: 401, title: 'The name, the password or the code is wrong' },
  providerRefused: { id: 4015, status: 401, title: 'The identity provider or directory did not accept this sign-in' },
  secondFactorNeeded: { id: 4016, status: 401, title: 'Your second factor is required' },
  secondFactorWrong: { id: 4017, status: 401, title: 'The code or passkey is wrong, or has been used already' },
  cannotBeSigned: { id: 4028, status: 403, title: 'This PDF file cannot be signed, so it cannot be downloaded' },
  secondFactorMissing: { id: 4029, status: 403, title: 'Set up a second factor first' },
  tenantForbidden: { id: 4030, status: 403, title: 'Only an admin of tenant 1 may do this' },
  roleTooLow: { id: 4031, status: 403, title: 'Your role does not allow this operation' },
  currentPasswordWrong: { id: 4032, status: 403, title: 'The current password is wrong' },
  addressRefused: { id: 4033, status: 403, title: 'Access from this IP address is not allowed' },
  notAdmitted: { id: 4034, status: 403, title: 'You do not have access to this link' },
  permissionOff: { id: 4035, status: 403, title: 'This link does not allow this action' },
  otherSite: { id: 4036, status: 403, title: 'The request came from another website' },
  copyProtected: { id: 4037, status: 403, title: 'These files are protected and cannot be downloaded' },
  cannotBeMarked: { id: 4038, status: 403, title: 'This file type cannot be watermarked, so it cannot be opened or downloaded' },
  rootFixed: { id: 4039, status: 403, title: 'The shared file or folder itself cannot be created, replaced, renamed or deleted' },
  notFound: { id: 4041, status: 404, title: 'This address does not exist' },
  recordUnknown: { id: 4042, status: 404, title: 'This record does not exist' },
  linkUnknown: { id: 4043, status: 404, title: 'This link does not exist' },
  itemAbsent: { id: 4044, status: 404, title: 'This file or folder does not exist' },
  pageAbsent: { id: 4046, status: 404, title: 'The document does not have this page' },
  uploadUnknown: { id: 4045, status: 404, title: 'This upload does not exist, or has expired' },
  methodWrong: { id: 4051, status: 405, title: 'This address does not support this method' },
  headersTooSlow: { id: 4077, status: 408, title: 'The request headers were not received in time' },
  uploadOffsetWrong: { id: 4078, status: 409, title: 'Upload-Offset is wrong: the upload continues at another offset' },
  changeImpossible: { id: 4079, status: 409, title: 'The storage cannot make this change' },
  fileArchived: { id: 4080, status: 409, title: 'The file is in archive storage, and must be restored from it first' },
  bodyTooSlow: { id: 4081, status: 408, title: 'The request body was not received in time' },
  secondFactorLast: { id: 4082, status: 409, title: 'The policy requires a second factor: add another one before you remove this one' },
  mailStateWrong: { id: 4083, status: 409, title: 'The state of this e-mail does not allow this action' },
  mailNotConfigured: { id: 4084, status: 409, title: 'No mail server is configured. Set POSTERN_SMTP_URL and POSTERN_MAIL_FROM' },
  locationsTooMany: { id: 4085, status: 409, title: 'The tenant has reached its maximum number of locations' },
  locationsChanged: { id: 4086, status: 409, title: 'Another location was added or changed at the same time. Try again' },
  archiveTooDeep: { id: 4087, status: 409, title: 'The folders are nested too deeply for a ZIP file' },
  operatorLast: { id: 4088, status: 409, title: 'At least one operator must be an admin' },
  itemExists: { id: 4089, status: 409, title: 'A file or folder with this name already exists' },
  idempotencyRunning: { id: 4090, status: 409, title: 'A request with this Idempotency-Key is still running' },
  nameTaken: { id: 4091, status: 409, title: 'This name is already in use' },
  viewIdTaken: { id: 4092, status: 409, title: 'This viewId is already in use' },
  viewIdTooShort: { id: 4093, status: 409, title: 'The viewId is too short for a link without sign-in' },
  profileInUse: { id: 4094, status: 409, title: 'The login profile is still in use' },
  profileDefault: { id: 4095, status: 409, title: 'The default login profile cannot be deleted' },
  userAmbiguous: { id: 4096, status: 409, title: 'Several login profiles have a user with this name' },
  locationInUse: { id: 4097, status: 409, title: 'The location is still in use' },
  keyFixed: { id: 4098, status: 409, title: 'The key from POSTERN_API_KEY cannot be deleted through the API' },
  idempotencyReused: { id: 4099, status: 409, title: 'The Idempotency-Key was used for another request' },
  linkEnded: { id: 4101, status: 410, title: 'This link has expired. Ask the person who sent it for a new one' },
  firstAddressEnded: {
    id: 4102,
    status: 410,
    title:
      'This address has already been used, or has expired after one hour. If there is no account yet, restart Postern to get a new address',
  },
  uploadComplete: { id: 4103, status: 410, title: 'This upload is complete' },
  tusVersionWrong: { id: 4120, status: 412, title: 'The request must have the header Tus-Resumable: 1.0.0' },
  versionStale: { id: 4121, status: 412, title: 'The record has changed since it was read' },
  itemStale: { id: 4122, status: 412, title: 'The file has changed since it was read' },
  bodyTooLarge: { id: 4131, status: 413, title: 'The body is too large' },
  fileTooLarge: { id: 4132, status: 413, title: 'The file is larger than the upload limit' },
  documentTooLarge: { id: 4133, status: 413, title: 'This document is too large, or takes too long to draw' },
  contentTypeWrong: { id: 4151, status: 415, title: 'The body must be application/json' },
  cannotBeViewed: { id: 4152, status: 415, title: 'This file type cannot be viewed here' },
  partTypeWrong: { id: 4153, status: 415, title: 'The body must be application/offset+octet-stream' },
  hasNoPages: { id: 4154, status: 415, title: 'This file cannot be shown as pages' },
  rangeUnsatisfiable: { id: 4161, status: 416, title: 'The range lies outside the file' },
  expectationUnknown: { id: 4171, status: 417, title: 'The Expect header supports only 100-continue' },
  hostWrong: { id: 4211, status: 421, title: 'This is not the public address of the server. Use the public address' },
  uploadInUse: { id: 4231, status: 423, title: 'Another request is sending this upload' },
  tooManyFailures: { id: 4291, status: 429, title: 'Too many failed attempts. Wait a moment and try again' },
  tooManyConflicts: { id: 4292, status: 429, title: 'Too many requests for viewIds that are already in use. Wait and try again' },
  headersTooLarge: { id: 4311, status: 431, title: 'The headers are too large' },
  checksumWrong: { id: 4601, status: 460, title: 'The bytes do not match Upload-Checksum' },
  unexpected: { id: 5001, status: 500, title: 'Something went wrong on the server. Try again later' },
  descriptorsUsedUp: { id: 5030, status: 503, title: 'Too many files and connections are open. Try again in a moment' },
  storeAway: { id: 5031, status: 503, title: 'The database is not available. Try again later' },
  storageAway: { id: 5032, status: 503, title: 'The file storage is not available. Try again later' },
  signInUnavailable: { id: 5033, status: 503, title: 'This sign-in method is not available' },
  signingUnavailable: { id: 5035, status: 503, title: 'Digital signatures are not available now, so PDF files cannot be downloaded' },
  signInBusy: { id: 5036, status: 503, title: 'Too many sign-ins, sign-in codes, tokens or password changes. Try again in a moment' },
  stopping: { id: 5037, status: 503, title: 'Postern is shutting down. Try again in a moment' },
  listingBusy: { id: 5038, status: 503, title: 'Too many listings or archives are in progress. Try again in a moment' },
  uploadsBusy: { id: 5039, status: 503, title: 'Too many uploads are running from your network or at this link. Try again in a moment' },
  searchBusy: { id: 5040, status: 503, title: 'Too many searches or large responses are in progress. Try again in a moment' },
  changesBusy: { id: 5041, status: 503, title: 'Too many changes are in progress. Try again in a moment' },
  bodiesBusy: { id: 5042, status: 503, title: 'Too many large requests are waiting. Try again in a moment' },
  mailsWaiting: { id: 5043, status: 503, title: 'Too many invitations are waiting to be sent. Try again later' },
  providerAway: { id: 5044, status: 503, title: 'The identity provider or directory is not available. Try again in a moment' },
  testsBusy: { id: 5045, status: 503, title: 'Too many tests are running. Try again in a moment' },
  documentsBusy: { id: 5046, status: 503, title: 'Too many documents are being drawn. Try again in a moment' },
  storageFull: { id: 5071, status: 507, title: 'There is not enough free disk space' },
  quotaExceeded: { id: 5072, status: 507, title: 'The quota leaves no room for this file' },
} as const satisfies Record<string, { id: number; status: number; title: string }>;
export type MessageName = keyof typeof messages;

/** Additional data of a refusal. */
export interface RefusalExtras {
  /** The reason, for the audit log and the test of a login profile. It may name servers of the operator, so visitors never get it. */
  readonly forOperator?: string;
  readonly fieldErrors?: readonly FieldError[];
  /** Seconds until the client may try again (RFC 9110, 10.2.3). */
  readonly retryAfter?: number;
  /** Size of the file in bytes, for a range that lies outside of it (RFC 9110, 14.4). */
  readonly fileSize?: number;
  /** Further fields of the response (RFC 9457, 3.2). */
  readonly fields?: Readonly<Record<string, unknown>>;
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
 * @throws Refusal `fieldInvalid` with the field errors of all checks; any other error of a check, without running the checks after it
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

/** Runs synchronous checks as `runChecks` does. @throws as `runChecks` */
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
