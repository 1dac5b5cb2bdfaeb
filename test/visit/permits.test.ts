import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SharedStorage } from '#features/visits/authorization/shared-storage.ts';

type ReadAction = 'list' | 'view' | 'download' | 'downloadFolder';
type Methods<A extends ReadAction | 'upload' | 'createFolder' | 'rename' | 'delete'> = { [K in A]: keyof SharedStorage<K>['storage'] }[A];
type Changes = 'upload' | 'createFolder' | 'rename' | 'remove' | 'clearEvidence';
/** 'none' if the methods make no change. */
type ChangesIn<M> = [Extract<M, Changes>] extends [never] ? 'none' : Extract<M, Changes>;

// The type check fails here if a permit to read, upload or rename gets a method for a change that its action does not include.
test('a permit to read a file cannot be used to change one', () => {
  const changes: ChangesIn<Methods<ReadAction>> = 'none';
  assert.equal(changes, 'none');
});

test('a permit to upload or rename cannot be used for another change', () => {
  const others: ChangesIn<Exclude<Methods<'upload'>, 'upload' | 'clearEvidence'> | Exclude<Methods<'rename'>, 'rename' | 'clearEvidence'>> =
    'none';
  assert.equal(others, 'none');
});
