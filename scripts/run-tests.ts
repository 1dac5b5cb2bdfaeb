// Runs every test, or those named, and ends with the line that CI counts.
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

const named = process.argv.slice(2);
const files = named.length > 0 ? named : globSync(['src/**/*.test.ts', 'test/**/*.test.ts']).sort();
let [passed, failed] = [0, 0];
const counts = ({ details, name }: { details: { type?: string }; name: string }) => details.type !== 'suite' && !name.endsWith('.test.ts');
const stream = run({ files, concurrency: availableParallelism() });
stream.on('test:pass', (event) => {
  if (counts(event)) passed += 1;
});
let fileFailed = false;
stream.on('test:fail', (event) => {
  if (counts(event)) failed += 1;
  else fileFailed = true; // a file that ends badly has failed, even where each of its tests passed
});
stream.compose(spec).pipe(process.stdout);
await new Promise((resolve) => stream.once('end', resolve));
process.on('exit', () => {
  if (fileFailed && failed === 0) failed += 1;
  if (passed === 0) failed += 1; // a run without a test proves nothing
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
});
