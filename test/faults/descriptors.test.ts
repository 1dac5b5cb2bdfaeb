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
  const abortDownload = async (path: string) => {
    const outgoing = get(`${base}/${path}`, { agent: false });
    const [response] = await once(outgoing, 'response');
    response.destroy();
  };
  const abortUpload = async (name: string) => {
    const outgoing = request(`${base}/file/${name}`, { method: 'PUT', agent: false, headers: { 'content-length': 1 << 20 } });
    outgoing.on('error', () => {});
    outgoing.write(Buffer.alloc(1 << 16));
    await once(outgoing, 'socket');
    outgoing.destroy();
  };
  const round = async (number: number) => {
    await Promise.all([abortDownload('file/large.bin'), abortDownload('zip'), abortDownload('list'), abortUpload(`cut-${number}`)]);
    const fileUrl = `${base}/file/made-${number}`;
    await fetch(fileUrl, { method: 'PUT', body: 'a text' });
    await fetch(fileUrl, { method: 'DELETE' });
  };
  for (let number = 0; number < 8; number += 1) await round(number); // some files are opened once and stay open
  const before = countDescriptors();
  for (let number = 8; number < rounds; number += 1) await round(number);
  await until(() => countDescriptors() <= before + 4); // allows for keep-alive connections
});
