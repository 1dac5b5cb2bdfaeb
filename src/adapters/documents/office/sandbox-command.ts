import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const bubblewrap = '/usr/bin/bwrap';
const prlimit = '/usr/bin/prlimit';
const nobody = '65534'; // user and group in the sandbox

/** Limits of a program in the sandbox. */
export interface ProgramLimits {
  /** Memory of each process, and of the files that it writes, in MiB. */
  readonly memory: number;
  /** Of each process, in seconds. */
  readonly processorTime: number;
}

/** Makes `/lib`, for example, what it is outside of the sandbox: a link into `/usr`, or a folder. */
function systemFolder(path: string): string[] {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return [];
  return stat.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}

const readable = (path: string) => ['--ro-bind-try', path, path];

const isSystemProgram = (program: string) => program.startsWith('/usr/');

/**
 * Returns whether a program is in `/usr`, or is `soffice` of LibreOffice. For the latter, its folder and the one above become readable in
 * the sandbox, so they must contain nothing else.
 */
export const isInstallation = (program: string): boolean =>
  isSystemProgram(program) || (basename(dirname(program)) === 'program' && existsSync(join(dirname(program), 'soffice.bin')));

/** Returns why programs cannot run in a sandbox on this machine; null: they can. */
export const missingProgram = () => [bubblewrap, prlimit].find((program) => !existsSync(program)) ?? null;

/**
 * Returns a command that runs a shell script without network, environment, and files of the machine other than programs and fonts. `/tmp`
 * is its only folder that it can write to. It is in memory, and contains standard input as the file `document`.
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
