import { DiskCommands } from '../../src/adapters/storage/disk/disk-commands.ts';
import type { ThreadSettings } from '../../src/adapters/storage/disk/folder-threads.ts';
import { type DiskRequest, runRequest } from '../../src/adapters/storage/disk/run-request.ts';

/** Runs the commands of disk threads in the thread of the test, so that the test can replace system calls. */
export const inlineThreads: ThreadSettings = {
  responseTimeout: 20_000,
  openThread(owner, root) {
    let commands: DiskCommands | undefined;
    return {
      post(request: DiskRequest) {
        commands ??= new DiskCommands(root());
        const response = runRequest(commands, request);
        setImmediate(() => owner.receive(response));
      },
      startIdleTimer: () => {},
      [Symbol.asyncDispose]: async () => {},
    };
  },
};
