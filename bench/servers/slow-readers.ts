// Slow downloads of a few KB per second, in their own process, so that their cost is not measured with the other requests.
import { Agent, get, type IncomingMessage } from 'node:http';

const [url = '', many = '0'] = process.argv.slice(2);
const [every, bytes] = [4000, 16 * 1024]; // interval in ms, and bytes that are read each time
const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
let left = 0;

function read(response: IncomingMessage): void {
  left += 1;
  response.pause();
  const timer = setInterval(() => response.read(bytes), every);
  response.on('error', () => {
    left -= 1;
    clearInterval(timer);
  });
}

let asked = 0;
const answered = () => {
  asked += 1;
  if (asked === Number(many)) console.log(`ready ${left}`);
};
for (let number = 0; number < Number(many); number += 1)
  setTimeout(() => {
    get(url, { agent }, (response) => {
      if (response.statusCode === 200) read(response);
      answered();
    }).on('error', answered);
  }, number * 4);
process.on('SIGTERM', () => process.exit());
