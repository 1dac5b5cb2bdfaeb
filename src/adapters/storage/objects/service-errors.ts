import { type OutboundRequest, ResponseTooLarge, TargetRefused, TargetUnreachable } from '#ports/outbound.ts';
import { OutcomeUnknown, StorageUnavailable } from '#ports/storage-errors.ts';

export type Method = NonNullable<OutboundRequest['method']>;

/** Returns whether a request may change something. */
export const mayChange = (method: Method) => !['GET', 'HEAD', 'PROPFIND'].includes(method);

/** What the code of an error means. */
export interface CodeMeaning {
  /** Plain words for an operator. */
  readonly explanation?: string;
  /** Whether the service does not accept the credentials. */
  readonly isSignIn?: boolean;
  /** Whether the service has refused the request because it has too many. Then the service has not begun to process the request. */
  readonly isThrottling?: boolean;
}

/** The service has responded with an error. */
export class ServiceError extends StorageUnavailable {
  readonly status: number;
  readonly code: string;
  readonly isSignInFailure: boolean;
  readonly isThrottling: boolean;
  constructor(status: number, code: string, { explanation, isSignIn = false, isThrottling = false }: CodeMeaning = {}) {
    super(`${explanation === undefined ? '' : `${explanation}: `}the service answered ${status} (${code})`);
    this.status = status;
    this.code = code;
    this.isSignInFailure = isSignIn;
    this.isThrottling = isThrottling || status === 429;
  }
}

/** Returns the error with which a service has responded, or null. In an `OutcomeUnknown`, this error is the cause. */
export function serviceErrorOf(error: unknown): ServiceError | null {
  const cause = error instanceof OutcomeUnknown ? error.cause : error;
  return cause instanceof ServiceError ? cause : null;
}

/** Returns the error for a request that has no response, or whose response could not be read to its end. */
export function noResponseError(method: Method, cause: unknown): StorageUnavailable {
  if (cause instanceof TargetRefused) return new StorageUnavailable(cause.message, { cause });
  const isExplained = cause instanceof TargetUnreachable || cause instanceof ResponseTooLarge;
  const message = isExplained ? cause.message : 'the service does not respond';
  return new (mayChange(method) ? OutcomeUnknown : StorageUnavailable)(message, { cause });
}
