// Slow downloads, of a few KB per second. A separate process, so that its work does not count in the measurements.
import { Agent, get, type IncomingMessage } from 'node:http';

const [url = '', count = '0'] = process.argv.slice(2);
const [interval, bytes] = [4000, 16 * 1024]; // interval in ms, and bytes that are read each time
const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
let openDownloads = 0;

function read(response: IncomingMessage): void {
  openDownloads += 1;
  response.pause();
  const timer = setInterval(() => response.read(bytes), interval);
  response.on('error', () => {
    openDownloads -= 1;
    clearInterval(timer);
  });
}

let responseCount = 0;
const onResponse = () => {
  responseCount += 1;
  if (responseCount === Number(count)) console.log(`ready ${openDownloads}`);
};
for (let number = 0; number < Number(count); number += 1)
  setTimeout(() => {
    get(url, { agent }, (response) => {
      if (response.statusCode === 200) read(response);
      onResponse();
    }).on('error', onResponse);
  }, number * 4);
process.on('SIGTERM', () => process.exit());
