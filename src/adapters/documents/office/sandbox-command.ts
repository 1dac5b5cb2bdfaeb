import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const bubblewrap = '/usr/bin/bwrap';
const prlimit = '/usr/bin/prlimit';
const nobody = '65534'; // user and group in the sandbox

/** Limits of a program in the sandbox. */
export interface ProgramLimits {
  /** In MiB: limit for the data of each process, and for all files in `/tmp` together. */
  readonly memory: number;
  /** Processor time of each process, in seconds. */
  readonly processorTime: number;
}

/** Returns the arguments that make `/lib`, for example, the same as outside of the sandbox: a link, a folder, or missing. */
function systemFolder(path: string): string[] {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return [];
  return stat.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}

const readable = (path: string) => ['--ro-bind-try', path, path];

const isSystemProgram = (program: string) => program.startsWith('/usr/');

/**
 * Returns whether a program is in `/usr`, or beside the `soffice.bin` of LibreOffice in a folder `program`. In the second case, this folder
 * and the one above become readable in the sandbox, so they must contain only LibreOffice (not checked).
 */
export const isInstallation = (program: string): boolean =>
  isSystemProgram(program) || (basename(dirname(program)) === 'program' && existsSync(join(dirname(program), 'soffice.bin')));

/** Returns the path of a program that the sandbox needs and this machine lacks; null: none is missing. */
export const missingProgram = () => [bubblewrap, prlimit].find((program) => !existsSync(program)) ?? null;

/**
 * Returns a command that runs a shell script without network and without the caller's environment. Of the machine's files, the script can
 * read `/usr`, the program and some settings. It can write only to `/tmp`, which is in memory and has standard input as `document`.
 * @param program path of the program that the script calls
 * @param script gets the path of the program as `$1`
 */
export function sandboxCommand(program: string, script: string, { memory, processorTime }: ProgramLimits): [string, ...string[]] {
  const bytes = memory << 20;
  return [
    ...([prlimit, '--core=0', `--data=${bytes}`, `--cpu=${processorTime}`, bubblewrap] as const),
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--uid', nobody, '--gid', nobody, '--cap-drop', 'ALL'],
    ...['--die-with-parent', '--new-session', '--clearenv', '--setenv', 'HOME', '/tmp', '--setenv', 'PATH', '/usr/bin:/bin'],
    ...['--ro-bind', '/usr', '/usr', ...['/bin', '/lib', '/lib32', '/lib64', '/sbin'].flatMap(systemFolder)],
    ...(isSystemProgram(program) ? [] : readable(dirname(dirname(program)))),
    ...['/etc/fonts', '/etc/libreoffice', '/etc/ld.so.cache', '/etc/alternatives'].flatMap(readable),
    ...['--proc', '/proc', '--dev', '/dev', '--size', `${bytes}`, '--tmpfs', '/tmp', '--file', '0', '/tmp/document'],
    ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', '/tmp'],
    ...['/bin/sh', '-c', script, 'sh', program],
  ];
}
