import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkKilledUploads } from '../resumable-uploads/check-killed-uploads.ts';

for (const killAfter of [30, 350])
  test(`uploads in parts continue after a process was killed when it had acknowledged ${killAfter} parts, and lose none of the parts`, (t) =>
    checkKilledUploads(t, { listStaged: async (data) => readdirSync(join(data, 'files/.postern')) }, killAfter));
