import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkKilledUploads } from '../resumable-uploads/check-killed-uploads.ts';

for (const killAfter of [30, 350])
  test(`after a process that acknowledged ${killAfter} parts is killed, the uploads continue and lose none of the parts`, (t) =>
    checkKilledUploads(t, { listStaged: async (data) => readdirSync(join(data, 'files/.postern')) }, killAfter));
