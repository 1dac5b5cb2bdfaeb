import type { RequestTimeouts } from '#http/request-timeouts.ts';
import type { Ports } from '#ports/ports.ts';

export interface TestReplacements {
  readonly ports?: Partial<Ports>;
  readonly log?: NodeJS.WritableStream | null;
  readonly timeouts?: RequestTimeouts;
  /** ms between two checks whether a running transfer is still permitted. */
  readonly transferCheckInterval?: number;
  /** ms between two searches for due jobs. */
  readonly jobInterval?: number;
  /** Called when the disk has failed and no request can be answered any more. Default: the process ends. */
  readonly onDiskFailure?: (cause: unknown) => void;
}
