import { prepareNginx } from '../test/parts/nginx.ts';
import { atLeast, atMost, type Figure, measurePairs, median } from './figures.ts';
import { download } from './load.ts';
import type { BenchPostern } from './postern.ts';
import { type MeasuredServer, measuredServerOf } from './process.ts';

type Note = (figure: Figure) => void;

/**
 * The address from which nginx connects to Postern. Postern trusts this proxy and lets it send
 * files. Postern sends files itself to all other clients.
 */
export const nginxAddress = '127.0.0.2';

/** Starts nginx in front of Postern, as in docs/operator/running.md. `/own/` sends the same files without Postern. */
async function startNginx(folder: string, postern: string, files: string): Promise<MeasuredServer> {
  const nginx = await prepareNginx(folder);
  const child = await nginx.start({
    postern: [new URL(postern).host],
    locationLines: `proxy_bind ${nginxAddress}; proxy_set_header Host ${new URL(postern).host};`,
    locations: `location /postern-files${files}/ { internal; alias ${files}/; disable_symlinks on; }
    location /own/ { alias ${files}/; }`,
  });
  return measuredServerOf(child, nginx.url);
}

/**
 * Measures downloads of a large file: sent by nginx for Postern, sent by Postern, and sent by nginx
 * alone.
 */
export async function measureReverseProxy(note: Note, folder: string, postern: BenchPostern, viewId: string, files: string): Promise<void> {
  await using nginx = await startNginx(folder, postern.url, files);
  const cpuTimes = { viaNginx: [] as number[], byPostern: [] as number[] };
  const measureSpeed = async (times: number[], servers: readonly MeasuredServer[], url: string) => {
    const cpuTime = () => servers.reduce((sum, server) => sum + server.cpu(), 0);
    const before = cpuTime();
    const { total, bytes } = await download(url);
    if (bytes !== 1 << 30) throw new Error(`${url}: ${bytes} bytes`);
    times.push(cpuTime() - before);
    return 1 / total;
  };
  const link = `/s/${viewId}/file/1g.bin`;
  const nginxAlone: number[] = [];
  const pair = await measurePairs(
    5,
    () => measureSpeed(nginxAlone, [nginx], `${nginx.url}/own/1g.bin`),
    () => measureSpeed(cpuTimes.viaNginx, [nginx, postern], nginx.url + link),
  );
  note(atLeast('a 1 GiB file that nginx sends for Postern, compared with nginx alone', 'GiB/s', pair, 0.8));
  for (let round = 0; round <= 5; round += 1) await measureSpeed(cpuTimes.byPostern, [postern], postern.url + link);
  const comparedWithPostern = (what: string, seconds: readonly number[], target: number): Figure => {
    const ratio = median(seconds) / median(cpuTimes.byPostern);
    const columns = {
      reference: `${median(cpuTimes.byPostern).toFixed(2)} s`,
      ours: `${median(seconds).toFixed(2)} s`,
      ratio: ratio.toFixed(2),
    };
    return { ...atMost(what, ratio, target, 'times'), ...columns };
  };
  note(comparedWithPostern('a file sent by nginx for Postern: CPU, compared with Postern sending the file itself', cpuTimes.viaNginx, 0.5));
  note({
    ...comparedWithPostern(
      'a file sent by nginx alone: CPU, compared with Postern sending the file itself',
      nginxAlone,
      Number.POSITIVE_INFINITY,
    ),
    target: 'none: for comparison',
  });
}
