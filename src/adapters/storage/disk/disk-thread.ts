import { parentPort, workerData } from 'node:worker_threads';
import { DiskCommands } from './disk-commands.ts';
import { transferableBuffers } from './read-file.ts';
import { type DiskRequest, runRequest } from './run-request.ts';

const commands = new DiskCommands(workerData);

parentPort?.on('message', (request: DiskRequest) => {
  const response = runRequest(commands, request);
  parentPort?.postMessage(response, 'value' in response ? transferableBuffers(response.value) : []);
});
