import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { recoverInterruptedChanges } from '#features/visits/files/recover-changes.ts';
import { sweepLocations } from '#features/visits/files/sweep-locations.ts';
import { type Json, newShare, type TestPostern, type TestResponse } from '../start.ts';
import { createShare } from '../visit/visiting.ts';
import { type Moment, startWithFailingCalls } from './failing-calls.ts';

/** Whether each call that `failCall` counts fails once (`npm run test:faults`), or only a few of them (`npm test`). */
const isLong = process.env['POSTERN_FAULTS'] === 'long';
const moments: readonly Moment[] = ['before', 'after'];
const maxCalls = 60;

interface FileAction {
  readonly action: string;
  /** Creates the file or folder that the action needs. */
  readonly prepare: (file: (name: string) => string, name: string) => void;
  readonly act: (link: (route: string, init: RequestInit) => Promise<TestResponse>, name: string) => Promise<TestResponse>;
  readonly tookPlace: (file: (name: string) => string, name: string) => boolean;
  /** The paths that the audit entry of the action may have. */
  readonly paths: (name: string) => readonly string[];
}

const json = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
const fileActions: readonly FileAction[] = [
  {
    action: 'upload',
    prepare: () => {},
    act: (link, name) => link(`file/${name}`, { method: 'PUT', body: 'a text' }),
    tookPlace: (file, name) => existsSync(file(name)),
    paths: (name) => [`/${name}`],
  },
  {
    action: 'upload',
    prepare: (file, name) => writeFileSync(file(name), 'before'),
    act: (link, name) => link(`file/${name}`, { method: 'PUT', body: 'after', headers: { 'if-match': '*' } }),
    tookPlace: (file, name) => readFileSync(file(name), 'utf8') === 'after',
    paths: (name) => [`/${name}`],
  },
  {
    action: 'createFolder',
    prepare: () => {},
    act: (link, name) => link(`folder/${name}`, { method: 'POST' }),
    tookPlace: (file, name) => existsSync(file(name)),
    paths: (name) => [`/${name}`],
  },
  {
    action: 'rename',
    prepare: (file, name) => writeFileSync(file(name), 'a text'),
    act: (link, name) => link('rename', json({ path: name, name: `${name}-renamed` })),
    tookPlace: (file, name) => existsSync(file(`${name}-renamed`)),
    paths: (name) => [`/${name}`, `/${name}-renamed`],
  },
  {
    action: 'delete',
    prepare: (file, name) => {
      mkdirSync(file(name));
      writeFileSync(file(`${name}/inner`), 'a text');
    },
    act: (link, name) => link(`file/${name}`, { method: 'DELETE' }),
    tookPlace: (file, name) => !existsSync(file(name)),
    paths: (name) => [`/${name}`],
  },
];

const callsToFail = (index: number) =>
  isLong ? Array.from({ length: maxCalls }, (_, at) => at + 1) : [...new Set([1 + index, 3, 5, 7])].sort();

for (const [index, { action, prepare, act, tookPlace, paths }] of fileActions.entries())
  for (const moment of moments)
    test(`if a storage call or a database write fails (${moment} its effect) in ${action} ${index}, the response, the disk and the audit log agree`, async (t) => {
      const { postern, failureControl } = await startWithFailingCalls(t);
      const { base } = await createShare(postern);
      const file = (name: string) => join(postern.files, name);
      const link = (route: string, init: RequestInit) => postern.visit(`${base}/${route}`, init);
      for (const number of callsToFail(index)) {
        const name = `file-${number}`;
        prepare(file, name);
        failureControl.failCall(number, moment);
        const { status } = await act(link, name);
        const hasFailed = failureControl.stopFailing();
        await recoverInterruptedChanges(postern.ports, new Set());
        const isDone = tookPlace(file, name);
        assert.ok(
          status < 300 ? isDone : status === 503,
          `call ${number}: ${status}, and the action ${isDone ? 'took place' : 'did not take place'}`,
        );
        const { list } = await postern.call('audit/search', { action });
        const outcomes = list.filter(({ path }: Json) => paths(name).includes(path)).map(({ outcome }: Json) => outcome);
        assert.equal(outcomes.includes('begun'), false, `call ${number}: ${outcomes}`);
        assert.equal(
          outcomes.filter((outcome: string) => outcome === 'done').length,
          isDone ? 1 : 0,
          `call ${number}: ${status}, ${outcomes}`,
        );
        if (!hasFailed) break;
      }
      await sweepLocations(postern.ports); // Postern does this soon after its start
      const staging = file('.postern');
      assert.deepEqual(existsSync(staging) ? readdirSync(staging) : [], []);
    });

type Management = readonly [
  name: string,
  body: (number: number) => object,
  count: (postern: TestPostern, number: number) => Promise<number>,
  all: number,
];
const managementActions: readonly Management[] = [
  [
    'share/add',
    (number) => newShare({ title: `Share ${number}`, linkPassword: 'correct horse battery' }),
    async (postern, number) => (await postern.call('share/search', { searchWord: `Share ${number}` })).totalCount,
    1,
  ],
  [
    'accessuser/addMany',
    (number) => ({ users: ['a', 'b', 'c'].map((name) => ({ username: `${name}-${number}-x`, active: true })) }),
    async (postern, number) => (await postern.call('accessuser/search', { searchWord: `-${number}-x` })).totalCount,
    3,
  ],
];

for (const [name, body, count, all] of managementActions)
  for (const moment of moments)
    test(`if a storage call or a database write fails (${moment} its effect) in ${name}, either all records are added or none`, async (t) => {
      const { postern, failureControl } = await startWithFailingCalls(t);
      for (const number of callsToFail(0)) {
        failureControl.failCall(number, moment);
        const { status } = await postern.send(name, body(number));
        const hasFailed = failureControl.stopFailing();
        const recordCount = await count(postern, number);
        assert.ok(recordCount === all || (recordCount === 0 && status === 503), `call ${number}: ${status}, ${recordCount} of ${all}`);
        if (!hasFailed) break;
      }
      assert.equal(
        (await postern.call('loginprofile/search')).totalCount,
        1 + (name === 'share/add' ? (await postern.call('share/search')).totalCount : 0),
      );
    });
