// A disk thread that blocks in a system call, as on a disk that does not respond: it opens a named pipe without a writer.
import fs from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { DiskCommands } from '../../src/adapters/storage/disk/disk-commands.ts';
import type { StorageRoot } from '../../src/adapters/storage/disk/open-within-root.ts';
import { type DiskRequest, runRequest } from '../../src/adapters/storage/disk/run-request.ts';
import { blockedFile, commandsFile, type HangingDisk } from './hanging-disk.ts';

const { disk, root }: { readonly disk: HangingDisk; readonly root: StorageRoot | null } = workerData;
const commands = new DiskCommands(root);
let folder = root?.path;

/** Blocks a request for this disk, if its command is one of the chosen ones, until the test releases the disk. */
function blockIfHung({ command, parameters }: DiskRequest): void {
  const [first] = parameters;
  if ((command === 'openRoot' || command === 'check') && typeof first === 'object' && 'path' in first) folder = first.path;
  if (folder !== disk.folder || !fs.existsSync(disk.pipe)) return;
  if (!fs.readFileSync(commandsFile(disk), 'utf8').split(' ').includes(command)) return;
  fs.appendFileSync(blockedFile(disk), `${command}\n`);
  try {
    fs.closeSync(fs.openSync(disk.pipe, 'r'));
  } catch {
    // the disk has just begun to respond again
  }
}

parentPort?.on('message', (request: DiskRequest) => {
  blockIfHung(request);
  parentPort?.postMessage(runRequest(commands, request));
});
