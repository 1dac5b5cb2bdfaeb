// Runs as its own process: swaps a folder and a file with symbolic links as fast as possible, the given number of times.
import { renameSync } from 'node:fs';
import { join } from 'node:path';

const [root = '', elsewhere = '', rounds = '0'] = process.argv.slice(2);
for (let round = 0; round < Number(rounds); round += 1) {
  for (const name of ['folder', 'file']) {
    renameSync(join(root, name), join(elsewhere, `real-${name}`));
    renameSync(join(elsewhere, `link-${name}`), join(root, name));
    renameSync(join(root, name), join(elsewhere, `link-${name}`));
    renameSync(join(elsewhere, `real-${name}`), join(root, name));
  }
}
