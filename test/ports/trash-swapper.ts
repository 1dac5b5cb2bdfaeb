// Runs as its own process: replaces entries with symbolic links while Postern deletes them, for a limited number of rounds and swaps.
import { lstatSync, readdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const [trash = '', elsewhere = '', outside = '', rounds = '0'] = process.argv.slice(2);
function ignoreErrors<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined; // the entry or its folder is absent or already deleted
  }
}
const maxSwaps = 6000;
let swapCount = 0;

function swap(target: string): void {
  swapCount += 1;
  ignoreErrors(() => renameSync(target, join(elsewhere, `moved-${swapCount}`)));
  ignoreErrors(() => symlinkSync(outside, target));
}
for (let round = 0; round < Number(rounds) && swapCount < maxSwaps; round += 1)
  for (const name of ignoreErrors(() => readdirSync(trash)) ?? []) {
    // Never follows a link: the swapper itself must not touch files outside the root.
    if (!ignoreErrors(() => lstatSync(join(trash, name)).isDirectory())) continue;
    swap(join(trash, name, 'sub'));
    if (round % 2 === 0) swap(join(trash, name));
  }
