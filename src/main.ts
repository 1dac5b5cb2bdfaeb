import { relative } from 'node:path';
import { compose, type Postern } from './compose.ts';
import { readSettings, type Settings, WrongSetting } from './settings.ts';

const wrongUsage = 64; // EX_USAGE of sysexits: a supervisor need not try again
const cannot = 69; // EX_UNAVAILABLE

const say = (line: string) => process.stdout.write(`${line}\n`);

function stop(code: number, ...lines: string[]): never {
  for (const line of lines) process.stderr.write(`${line}\n`);
  process.exit(code);
}

function settingsOrStop(): Settings {
  try {
    return readSettings(process.env);
  } catch (cause) {
    if (cause instanceof WrongSetting) stop(wrongUsage, 'Postern does not start: a setting is wrong.', cause.message);
    throw cause;
  }
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || host.startsWith('127.');

/** What an operator should know of settings that are allowed, but seldom meant. */
function warnings({ host, publicUrl }: Settings): string[] {
  if (isLoopback(host)) return [];
  if (publicUrl === null) return ['POSTERN_PUBLIC_URL is not set: links name localhost, which visitors elsewhere cannot open.'];
  return publicUrl.startsWith('https:') ? [] : ['POSTERN_PUBLIC_URL is not https: passwords and files travel unprotected.'];
}

/** Where to go next: the pages, and a line that works as printed. */
function guide(postern: Postern, settings: Settings): string[] {
  const keyFile = `${relative(process.cwd(), settings.data) || '.'}/first-key`;
  const key = settings.apiKey === null ? `$(cat ${keyFile})` : '$POSTERN_API_KEY';
  const console =
    postern.firstConsoleUrl === null
      ? [`  The console:        ${postern.apiUrl}/console`]
      : [`  Begin in a browser: ${postern.firstConsoleUrl}`, '                      (this address works once, and for an hour)'];
  return [
    `Postern answers at ${postern.publicUrl}`,
    ...console,
    `  Try the interface:  ${postern.apiUrl}/docs`,
    `  Your first call:    curl -H "Authorization: Bearer ${key}" ${postern.apiUrl}/api/v1/share/search`,
    '  Then:               the walk of five minutes in README.md',
  ];
}

// Whoever reads our output may leave: what is served does not end with the log.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

// Without a listener a reload would end the process.
let reopenLogs = () => {};
process.on('SIGHUP', () => reopenLogs());

const settings = settingsOrStop();
const postern = await compose(settings).catch((cause: unknown) =>
  stop(cannot, `Postern does not start: ${cause instanceof Error ? cause.message : 'unknown error'}`),
);
reopenLogs = postern.reopenLogs;
if (postern.ports.store.isFull())
  process.stderr.write('Note: the disk of POSTERN_DATA is full: files can be downloaded, nothing can be changed until there is room.\n');
for (const line of warnings(settings)) process.stderr.write(`Note: ${line}\n`);
for (const line of guide(postern, settings)) say(line);
void postern.awayLocations().then((names) => {
  for (const name of names) process.stderr.write(`Note: the location "${name}" does not answer: its folder is gone or cannot be read.\n`);
});

let stopping = false;
async function end(): Promise<void> {
  if (stopping) return;
  stopping = true;
  say('Postern stops: transfers under way get up to 30 seconds.');
  await postern[Symbol.asyncDispose]();
  process.exit(0);
}
// npm start watches by a channel: where it is killed, nobody would be left to stop this process.
if (process.connected) process.once('disconnect', () => void end());
process.on('SIGTERM', () => void end());
process.on('SIGINT', () => void end());
