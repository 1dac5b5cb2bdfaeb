import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { DocumentRenderer } from '#adapters/documents/document-renderer.ts';
import { atEnd } from '../parts/at-end.ts';
import { samplePdf } from '../parts/sample-documents.ts';
import { until } from '../ports/until.ts';
import { newShare, startPostern } from '../start.ts';

const options = { skip: process.platform === 'linux' ? false : 'needs /proc' };

/** Returns the process ids of the processes that draw PDF documents for this process. */
const drawingProcesses = (): string[] =>
  readdirSync('/proc/self/task')
    .flatMap((thread) => readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' '))
    .filter((pid) => pid !== '' && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('pdf-child'));

test('a process that is prepared draws the first document, and at most four tenants have one', options, async (t) => {
  const renderer = new DocumentRenderer(null);
  atEnd(t, () => renderer[Symbol.asyncDispose]());
  renderer.prepare(1);
  await until(() => drawingProcesses().length === 1); // a process has its name only when its program has started
  const [first] = drawingProcesses();
  renderer.prepare(1);
  const document = { kind: 'pdf', tid: 1, group: 'share 1', version: 'a', read: () => samplePdf() } as const;
  assert.equal((await renderer.pages(document)).length, 3);
  assert.deepEqual(drawingProcesses(), [first]);
  for (const tid of [2, 3, 4, 5]) renderer.prepare(tid);
  await until(() => drawingProcesses().length === 4);
  assert.ok(drawingProcesses().includes(first ?? ''), 'no tenant loses its process');
});

test('a visit of a share that shows its files as pages prepares their drawing, and other visits do not', options, async (t) => {
  const postern = await startPostern(t);
  const visit = async (over: object) => {
    const { viewId } = await postern.call('share/add', newShare(over));
    assert.equal((await postern.visit(`/s/${viewId}/visit`)).status, 200);
  };
  await visit({});
  await visit({ copyProtect: true, canView: false });
  assert.deepEqual(drawingProcesses(), []);
  await visit({ copyProtect: true });
  await until(() => drawingProcesses().length === 1);
});
