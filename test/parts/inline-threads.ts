import { answerRequest, type DiskRequest } from '../../src/adapters/storage/disk/answer-request.ts';
import { DiskCommands } from '../../src/adapters/storage/disk/disk-commands.ts';
import type { ThreadSettings } from '../../src/adapters/storage/disk/folder-threads.ts';

/** Runs the commands of the threads in the thread of the test, so that it can replace system calls. */
export const inlineThreads: ThreadSettings = {
  answerLimit: 20_000,
  openThread(owner, root) {
    let commands: DiskCommands | undefined;
    return {
      post(request: DiskRequest) {
        commands ??= new DiskCommands(root());
        const response = answerRequest(commands, request);
        setImmediate(() => owner.receive(response));
      },
      startIdleTimer: () => {},
      [Symbol.asyncDispose]: async () => {},
    };
  },
};
