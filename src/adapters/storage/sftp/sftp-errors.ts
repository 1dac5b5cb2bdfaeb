import { StorageUnavailable } from '#ports/storage-errors.ts';

/** Codes of the protocol (draft-ietf-secsh-filexfer-02, 7). */
export const statusCodes = { endOfFile: 1, noSuchFile: 2, permissionDenied: 3, failure: 4, unsupported: 8 } as const;

const explanations: Readonly<Record<number, string>> = {
  [statusCodes.noSuchFile]: 'there is no such file or folder',
  [statusCodes.permissionDenied]: 'the user may not do this',
  [statusCodes.failure]: 'the server has refused the request, without a reason',
  [statusCodes.unsupported]: 'the server does not support the request',
};

/** The server has answered a request with an error: it has done nothing. */
export class SftpRefusal extends StorageUnavailable {
  readonly code: number;
  constructor(code: number, cause?: unknown) {
    super(explanations[code] ?? `the server has refused the request (code ${code})`, { cause });
    this.code = code;
  }
}

/** The server has not answered in time: it may still do what was requested. */
export class NoResponse extends StorageUnavailable {}

/** The server does not accept the user name, the password or the key. */
export class SignInRefused extends StorageUnavailable {}

/** Returns the code of a refusal, or null for any other error. */
export const refusalCode = (error: unknown): number | null => (error instanceof SftpRefusal ? error.code : null);

/** Waits for a request. @returns null if the server says that there is no such file or folder */
export const nullIfMissing = <T>(request: Promise<T>): Promise<T | null> =>
  request.catch((cause: unknown) => {
    if (refusalCode(cause) === statusCodes.noSuchFile) return null;
    throw cause;
  });
