import { type Directories, DirectoryRefused, DirectoryUnavailable, type TenantDirectory } from '#ports/directory.ts';
import { type OutboundRequest, ResponseTooLarge, TargetRefused, TargetUnreachable } from '#ports/outbound.ts';

/** An HTTP request that the thread for providers and directories sends (`provider-thread.ts`). */
export interface HttpTask {
  readonly url: string;
  readonly request: Omit<OutboundRequest, 'signal'>;
}

/** A method of `Directories`, and its arguments. */
export type DirectoryTask =
  | { readonly method: 'find'; readonly directory: TenantDirectory; readonly username: string }
  | { readonly method: 'verify'; readonly directory: TenantDirectory; readonly dn: string | null; readonly password: string }
  | { readonly method: 'signInByPattern'; readonly directory: TenantDirectory; readonly username: string; readonly password: string };

/** A task of the thread. `abort` is the id of a task whose HTTP request ends. A ping only shows that the thread is not blocked. */
export type ProviderTask = { readonly id: number } & (
  | { readonly http: HttpTask }
  | { readonly directory: DirectoryTask }
  | { readonly abort: number }
  | { readonly ping: true }
);

const failures = { TargetRefused, TargetUnreachable, ResponseTooLarge, DirectoryUnavailable, DirectoryRefused } as const;
type FailureKind = keyof typeof failures;

/** An error of a task, as plain data that can be sent between threads. */
export interface TaskFailure {
  /** null: an error of another class. */
  readonly kind: FailureKind | null;
  readonly message: string;
}

export type ProviderResult = { readonly id: number } & ({ readonly value: unknown } | { readonly failure: TaskFailure });

/** Returns an error as plain data. */
export function failureOf(cause: unknown): TaskFailure {
  const kind = Object.keys(failures).find((name): name is FailureKind => cause instanceof failures[name as FailureKind]) ?? null;
  return { kind, message: cause instanceof Error ? cause.message : String(cause) };
}

/** Returns the error that a failure describes. */
export const errorOfFailure = ({ kind, message }: TaskFailure): Error => (kind === null ? new Error(message) : new failures[kind](message));

export function runDirectoryTask(directories: Directories, task: DirectoryTask): Promise<unknown> {
  switch (task.method) {
    case 'find':
      return directories.find(task.directory, task.username);
    case 'verify':
      return directories.verify(task.directory, task.dn, task.password);
    case 'signInByPattern':
      return directories.signInByPattern(task.directory, task.username, task.password);
  }
}
