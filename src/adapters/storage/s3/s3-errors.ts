import { type OutboundRequest, TargetRefused, TargetUnreachable } from '#ports/outbound.ts';
import { OutcomeUnknown, StorageUnavailable } from '#ports/storage.ts';
import { childText, type XmlElement } from './s3-xml.ts';

export type Method = NonNullable<OutboundRequest['method']>;

/** Returns whether a request may change something. */
export const mayChange = (method: Method) => method !== 'GET' && method !== 'HEAD';

/** Plain words for the codes of errors that a configuration or an operator can cause. */
const codeTexts: ReadonlyMap<string, string> = new Map(
  Object.entries({
    InvalidAccessKeyId: 'the access key id is unknown',
    SignatureDoesNotMatch: 'the secret access key is wrong',
    InvalidToken: 'the session token is wrong',
    ExpiredToken: 'the session token has expired',
    AccessDenied: 'the access key may not do this',
    NoSuchBucket: 'there is no such bucket',
    AuthorizationHeaderMalformed: 'the region is wrong',
    PermanentRedirect: 'the bucket is in another region, or at another endpoint',
    RequestTimeTooSkewed: 'the clock of this machine is wrong',
  }),
);

/** Returns the code of an error that an element describes. */
export function codeOf(document: XmlElement): string {
  const code = childText(document, 'Code') ?? '';
  return /^[A-Za-z.]{1,64}$/.test(code) ? code : 'no code';
}

/** The service has responded with an error. */
export class ServiceError extends StorageUnavailable {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string) {
    const known = codeTexts.get(code);
    super(`${known ? `${known}: ` : ''}the service answered ${status} (${code})`);
    this.status = status;
    this.code = code;
  }
}

/** Returns the error with which a service has responded, also to a change whose outcome is unknown, or null if it has not responded. */
export function serviceErrorOf(error: unknown): ServiceError | null {
  const cause = error instanceof OutcomeUnknown ? error.cause : error;
  return cause instanceof ServiceError ? cause : null;
}

/** Returns the error for a request without a response. */
export function noResponse(method: Method, cause: unknown): StorageUnavailable {
  if (cause instanceof TargetRefused) return new StorageUnavailable(cause.message, { cause });
  const message = cause instanceof TargetUnreachable ? cause.message : 'the service does not respond';
  return new (mayChange(method) ? OutcomeUnknown : StorageUnavailable)(message, { cause });
}
