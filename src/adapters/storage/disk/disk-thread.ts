import { parentPort, workerData } from 'node:worker_threads';
import { answerRequest, type DiskRequest } from './answer-request.ts';
import { DiskCommands } from './disk-commands.ts';
import { movableBuffers } from './read-file.ts';

const commands = new DiskCommands(workerData);

parentPort?.on('message', (request: DiskRequest) => {
  const response = answerRequest(commands, request);
  parentPort?.postMessage(response, 'value' in response ? movableBuffers(response.value) : []);
});
