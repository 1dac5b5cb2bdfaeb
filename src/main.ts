import { relative } from 'node:path';
import { compose, type Postern } from './composition/compose.ts';
import { exitAfterStop } from './exits.ts';
import { InvalidSetting, readSettings, type Settings } from './settings/settings.ts';

// Exit codes of sysexits.h.
const exitUsage = 64; // EX_USAGE: a supervisor need not try again
const exitUnavailable = 69; // EX_UNAVAILABLE

const print = (line: string) => process.stdout.write(`${line}\n`);

function stop(code: number, ...lines: string[]): never {
  for (const line of lines) process.stderr.write(`${line}\n`);
  process.exit(code);
}

function readSettingsOrStop(): Settings {
  try {
    return readSettings(process.env);
  } catch (cause) {
    if (cause instanceof InvalidSetting) stop(exitUsage, 'Postern cannot start: a setting is invalid.', cause.message);
    throw cause;
  }
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || host.startsWith('127.');

/** Returns warnings about settings that are allowed but rarely intended. */
function settingWarnings({ host, publicUrl }: Settings): string[] {
  if (isLoopback(host)) return [];
  if (publicUrl === null)
    return ['POSTERN_PUBLIC_URL is not set: links contain localhost or the value of HOST, which other machines perhaps cannot reach.'];
  return publicUrl.startsWith('https:') ? [] : ['POSTERN_PUBLIC_URL is not https: passwords and files are sent unencrypted.'];
}

/** Returns the lines for the operator after the start: the addresses, and an example of a first call. */
function startGuide(postern: Postern, settings: Settings): string[] {
  const keyFile = `${relative(process.cwd(), settings.data) || '.'}/first-key`;
  const key = settings.apiKey === null ? `$(cat ${keyFile})` : '$POSTERN_API_KEY';
  const consoleLines =
    postern.firstConsoleUrl === null
      ? [`  The console:        ${postern.apiUrl}/console`]
      : [`  Begin in a browser: ${postern.firstConsoleUrl}`, '                      (this address works once and expires after an hour)'];
  return [
    `Postern is running. Its links begin with ${postern.publicUrl}`,
    ...consoleLines,
    `  Try the API:        ${postern.apiUrl}/docs`,
    `  Your first call:    curl -H "Authorization: Bearer ${key}" ${postern.apiUrl}/api/v1/share/search`,
    '  Then:               the five-minute tour in README.md',
  ];
}

// The program that reads the output may close the pipe. That must not stop the server.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

// Without a listener, SIGHUP would end the process.
let reopenLogs = () => {};
process.on('SIGHUP', () => reopenLogs());

const settings = readSettingsOrStop();
const postern = await compose(settings).catch((cause: unknown) =>
  stop(exitUnavailable, `Postern cannot start: ${cause instanceof Error ? cause.message : 'unknown error'}`),
);
reopenLogs = postern.reopenLogs;

let isStopping = false;
async function stopServer(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  print('Postern is stopping. Running transfers have up to 25 seconds to finish.');
  await postern[Symbol.asyncDispose]();
  exitAfterStop();
}

// The listeners are set before the first line is printed: a supervisor may stop the process as soon as it has read that line.
process.on('SIGTERM', () => void stopServer());
process.on('SIGINT', () => void stopServer());
// npm start holds an IPC channel: if npm start is killed, only the end of this channel stops this process.
if (process.connected) process.once('disconnect', () => void stopServer());

if (postern.ports.store.isFull())
  process.stderr.write(
    'Note: the disk of the database (in POSTERN_DATA, or on the PostgreSQL server) is full: files can be downloaded, but nothing can be changed until there is free space.\n',
  );
for (const line of settingWarnings(settings)) process.stderr.write(`Note: ${line}\n`);
for (const line of startGuide(postern, settings)) print(line);
void postern.unavailableLocations().then((names) => {
  for (const name of names)
    process.stderr.write(
      `Note: the location "${name}" does not respond. If it is a folder, check that the folder exists and can be read.\n`,
    );
});
void postern.officeProblem().then((problem) => {
  if (problem !== null)
    process.stderr.write(
      `Note: LibreOffice is installed, but does not work in its sandbox, so Office documents are not shown: ${problem}\n`,
    );
});
