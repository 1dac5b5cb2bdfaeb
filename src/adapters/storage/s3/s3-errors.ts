import { type CodeMeaning, ServiceError } from '#adapters/storage/objects/service-errors.ts';
import { childText, type XmlElement } from '#adapters/storage/objects/xml.ts';
import { ChangeImpossible } from '#ports/storage-errors.ts';

const signIn = (explanation: string): CodeMeaning => ({ explanation, isSignIn: true });
const throttling: CodeMeaning = { isThrottling: true };

/** The error codes that a configuration or an operator can cause, and those that mean too many requests. */
const meanings: ReadonlyMap<string, CodeMeaning> = new Map(
  Object.entries({
    InvalidAccessKeyId: signIn('the access key id is unknown'),
    SignatureDoesNotMatch: signIn('the secret access key is wrong'),
    InvalidToken: signIn('the session token is wrong'),
    ExpiredToken: signIn('the session token has expired'),
    RequestTimeTooSkewed: signIn('the clock of this machine is wrong'),
    AccessDenied: { explanation: 'the access key may not do this' },
    NoSuchBucket: { explanation: 'there is no such bucket' },
    AuthorizationHeaderMalformed: { explanation: 'the region is wrong' },
    PermanentRedirect: { explanation: 'the bucket is in another region, or at another endpoint' },
    SlowDown: throttling,
    RequestLimitExceeded: throttling,
    TooManyRequests: throttling,
    Throttling: throttling,
  }),
);

/** Returns the code of an error that an element describes. */
export function s3CodeOf(document: XmlElement): string {
  const code = childText(document, 'Code') ?? '';
  return /^[A-Za-z\d.]{1,64}$/.test(code) ? code : 'no code';
}

export const s3Error = (status: number, code: string) => new ServiceError(status, code, meanings.get(code));

/** Returns the error for a request that stores an object or a part, or begins an upload in parts. If it is denied, nothing was changed. */
export const storingError = (cause: ServiceError): Error =>
  cause.code === 'AccessDenied' ? new ChangeImpossible(`The service does not permit this change (${cause.code})`, { cause }) : cause;
