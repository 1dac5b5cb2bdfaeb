import { once } from 'node:events';
import { readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { get, request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../ports/until.ts';
import { runPostern } from '../process/run-postern.ts';
import { newShare, temporaryFolder } from '../start.ts';

const rounds = process.env['POSTERN_FAULTS'] === 'long' ? 400 : 40;

test('interrupted downloads and uploads leave no file descriptors open', { timeout: 120_000 }, async (t) => {
  const data = await temporaryFolder(t);
  const postern = await runPostern(t, { POSTERN_DATA: data });
  const { viewId } = (await postern.send('share/add', newShare())).body;
  const base = `${postern.publicUrl}/s/${viewId}`;
  writeFileSync(join(data, 'files/large.bin'), '');
  truncateSync(join(data, 'files/large.bin'), 8 << 20);
  const countDescriptors = () => readdirSync(`/proc/${postern.child.pid}/fd`).length;
  const breakOff = async (path: string) => {
    const sent = get(`${base}/${path}`, { agent: false });
    const [response] = await once(sent, 'response');
    response.destroy();
  };
  const cutUpload = async (name: string) => {
    const sent = request(`${base}/file/${name}`, { method: 'PUT', agent: false, headers: { 'content-length': 1 << 20 } });
    sent.on('error', () => {});
    sent.write(Buffer.alloc(1 << 16));
    await once(sent, 'socket');
    sent.destroy();
  };
  const round = async (number: number) => {
    await Promise.all([breakOff('file/large.bin'), breakOff('zip'), breakOff('list'), cutUpload(`cut-${number}`)]);
    const made = `${base}/file/made-${number}`;
    await fetch(made, { method: 'PUT', body: 'a text' });
    await fetch(made, { method: 'DELETE' });
  };
  for (let number = 0; number < 8; number += 1) await round(number); // some files are opened once and stay open
  const before = countDescriptors();
  for (let number = 8; number < rounds; number += 1) await round(number);
  await until(() => countDescriptors() <= before + 4); // allows for keep-alive connections
});
