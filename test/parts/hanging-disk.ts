import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { idleThread } from '../../src/adapters/os/idle-thread.ts';
import type { CommandName } from '../../src/adapters/storage/disk/disk-commands.ts';
import type { ThreadSettings } from '../../src/adapters/storage/disk/folder-threads.ts';
import { until } from '../ports/until.ts';
import { temporaryFolder } from '../start.ts';
import { atEnd } from './at-end.ts';

/** A folder whose disk can hang: chosen commands block a thread in a system call. */
export interface HangingDisk {
  /** Real path of the folder. */
  readonly folder: string;
  /** A named pipe: threads block on it while it exists. */
  readonly pipe: string;
}

/** Returns the path of the file in which the threads record the commands that have blocked. */
export const blockedFile = ({ pipe }: HangingDisk) => `${pipe}-blocked`;

/** Returns the path of the file with the commands that block. */
export const commandsFile = ({ pipe }: HangingDisk) => `${pipe}-commands`;

/** Prepares a disk that does not hang yet. */
export async function createHangingDisk(t: TestContext, folder: string) {
  const disk: HangingDisk = { folder, pipe: join(await temporaryFolder(t), 'pipe') };
  let responseTimeout = 20_000; // ms
  const threads: ThreadSettings = {
    get responseTimeout() {
      return responseTimeout;
    },
    openThread: (owner, root) => idleThread('./hanging-disk-thread', import.meta.url, owner, () => ({ disk, root: root() })),
  };
  const blockedCount = () => (existsSync(blockedFile(disk)) ? readFileSync(blockedFile(disk), 'utf8').split('\n').length - 1 : 0);
  /** Lets the disk respond again. */
  function release(): void {
    if (!existsSync(disk.pipe)) return;
    if (writer !== -1) closeSync(writer);
    writer = openSync(disk.pipe, 'r+'); // wakes the threads that wait for a writer
    rmSync(disk.pipe);
  }
  let writer = -1;
  atEnd(t, () => {
    release();
    if (writer !== -1) closeSync(writer);
  });
  return {
    threads,
    /** Makes these commands block from now on. */
    hang(...commands: readonly CommandName[]) {
      rmSync(blockedFile(disk), { force: true });
      writeFileSync(commandsFile(disk), commands.join(' '));
      execFileSync('mkfifo', [disk.pipe]);
    },
    release,
    /** Sets the time in ms after which requests to the disk fail. */
    setResponseTimeout(limit: number) {
      responseTimeout = limit;
    },
    blockedCount,
    /** Resolves when `count` commands have blocked since the disk began to hang. */
    untilBlocked: (count = 1) => until(() => blockedCount() >= count),
  };
}
