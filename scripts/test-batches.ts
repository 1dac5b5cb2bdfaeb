import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Patterns of test files that leave no state in their process, and how many of them may share a process. Each process
 * needs a second to load the modules.
 */
const batchSizes: readonly (readonly [RegExp, number])[] = [
  [/^src\//, 25],
  [/^test\/(api\/(?!hostile)|visit\/(?!hung))/, 8],
  [/^test\/web\//, 4],
];

/**
 * Combines test files that can share a process.
 * @param folder for the files that load several test files
 * @returns the files to run: the batches, and the files that run alone, in the order of the first test file of each
 */
export function batchTestFiles(files: readonly string[], folder: string): string[] {
  const open = new Map<RegExp, { readonly entry: string; readonly members: string[] }>();
  const entries: { readonly entry: string; readonly members: string[] }[] = [];
  for (const file of files) {
    const [pattern, size] = batchSizes.find(([one]) => one.test(file)) ?? [null, 1];
    const current = pattern && open.get(pattern);
    if (current && current.members.length < size) current.members.push(file);
    else {
      const batch = { entry: join(folder, `batch-${entries.length}.mjs`), members: [file] };
      if (pattern) open.set(pattern, batch);
      entries.push(batch);
    }
  }
  mkdirSync(folder, { recursive: true });
  return entries.map(({ entry, members: [first = '', ...others] }) => {
    if (others.length === 0) return first;
    const imports = [first, ...others].map((member) => `await import(${JSON.stringify(pathToFileURL(resolve(member)).href)});\n`);
    writeFileSync(entry, imports.join(''));
    return entry;
  });
}
