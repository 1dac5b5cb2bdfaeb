import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const rounds = 30_000;

/** Creates a root with a folder and a file that the swapper replaces with symbolic links to a folder and a file outside. */
export function createSwappedFolder(base: string, root: string) {
  const [outside, elsewhere] = [join(base, 'outside'), join(base, 'elsewhere')];
  for (const folder of [root, outside, elsewhere, join(root, 'folder'), join(root, 'folder/sub'), join(outside, 'sub')])
    mkdirSync(folder, { recursive: true });
  for (const name of ['secret', 'same', 'sub/deep']) writeFileSync(join(outside, name), `OUTSIDE ${name}`);
  for (const name of ['same', 'sub/deep']) writeFileSync(join(root, 'folder', name), `inside ${name}`);
  writeFileSync(join(root, 'file'), 'inside file');
  symlinkSync(outside, join(elsewhere, 'link-folder'));
  symlinkSync(join(outside, 'secret'), join(elsewhere, 'link-file'));
  /** Returns the names, metadata and contents of all entries in the folder `outside`. */
  const readOutside = () =>
    readdirSync(outside, { recursive: true, encoding: 'utf8' })
      .sort()
      .map((name) => {
        const stat = statSync(join(outside, name));
        return {
          name,
          ino: stat.ino,
          nlink: stat.nlink,
          changed: stat.ctimeMs,
          text: stat.isFile() ? readFileSync(join(outside, name), 'utf8') : '',
        };
      });
  function run(script: string, ...args: string[]) {
    const swapper = spawn(process.execPath, [join(import.meta.dirname, script), ...args], { stdio: 'inherit' });
    const state = { racing: true, ended: new Promise<number | null>((resolve) => swapper.once('exit', resolve)) };
    void state.ended.then(() => {
      state.racing = false;
    });
    return state;
  }
  /** Starts the swapper for a fixed number of rounds. `racing` is true while it runs. */
  const race = () => run('swapper.ts', root, elsewhere, String(rounds));
  /** Starts the program that replaces entries with symbolic links while Postern deletes them. */
  const raceWithRemoval = () => run('trash-swapper.ts', join(root, '.postern'), elsewhere, outside, String(rounds / 20));
  return { root, outside, readOutside, race, raceWithRemoval };
}
