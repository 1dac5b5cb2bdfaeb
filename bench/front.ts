import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { atLeast, atMost, type Figure, middle, paired } from './figures.ts';
import { take } from './load.ts';
import type { BenchPostern } from './postern.ts';
import { freePort, type Measured, measured } from './process.ts';

type Note = (figure: Figure) => void;

/** From where nginx asks: Postern hands files over to it, and sends them itself to the bench. */
export const trusted = '127.0.0.2';

const configuration = (port: number, postern: string, files: string) => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
master_process off;
pid nginx.pid;
events {}
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass ${postern};
      proxy_bind ${trusted};
      proxy_set_header X-Forwarded-For $remote_addr;
    }
    location /postern-files${files}/ { internal; alias ${files}/; disable_symlinks on; }
    location /own/ { alias ${files}/; }
  }
}`;

export const hasNginx = () => spawnSync('nginx', ['-v']).status === 0;

/** nginx before a Postern, as docs/operator/running.md has it; /own/ sends the same files without Postern. */
async function startNginx(folder: string, postern: string, files: string): Promise<Measured> {
  mkdirSync(join(folder, 'tmp'), { recursive: true });
  const port = await freePort();
  writeFileSync(join(folder, 'nginx.conf'), configuration(port, postern, files));
  const child = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'error.log'], { stdio: ['ignore', 'ignore', 'inherit'] });
  const server = measured(child, `http://127.0.0.1:${port}`);
  while (
    !(await fetch(server.url).then(
      () => true,
      () => false,
    ))
  )
    if (child.exitCode !== null) throw new Error('nginx ended');
  return server;
}

/** Large files behind nginx: sent by it at Postern's word, by Postern itself, and by it alone. */
export async function behindFrontServer(note: Note, folder: string, postern: BenchPostern, viewId: string, files: string): Promise<void> {
  await using nginx = await startNginx(folder, postern.url, files);
  const cpu = { handed: [] as number[], own: [] as number[] };
  const used = async (to: number[], servers: readonly Measured[], url: string) => {
    const spent = () => servers.reduce((sum, server) => sum + server.cpu(), 0);
    const before = spent();
    const { whole, bytes } = await take(url);
    if (bytes !== 1 << 30) throw new Error(`${url}: ${bytes} bytes`);
    to.push(spent() - before);
    return 1 / whole;
  };
  const link = `/s/${viewId}/file/1g.bin`;
  const alone: number[] = [];
  const pair = await paired(
    5,
    () => used(alone, [nginx], `${nginx.url}/own/1g.bin`),
    () => used(cpu.handed, [nginx, postern], nginx.url + link),
  );
  note(atLeast('a 1 GiB file behind nginx, handed over: rate of nginx by itself', 'GiB/s', pair, 0.8));
  for (let round = 0; round <= 5; round += 1) await used(cpu.own, [postern], postern.url + link);
  const ratio = middle(cpu.handed) / middle(cpu.own);
  note({
    ...atMost('the same, CPU of sending it by ourselves', ratio, 0.5, 'times'),
    reference: `${middle(cpu.own).toFixed(2)} s`,
    ours: `${middle(cpu.handed).toFixed(2)} s`,
    ratio: ratio.toFixed(2),
  });
}
