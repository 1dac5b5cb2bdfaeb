import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { S3Configuration } from '#core/records/location-configurations.ts';
import { endProcess, hasEnded } from './end-process.ts';
import { freePort } from './free-port.ts';

const run = promisify(execFile);
const objectMemory = 4 * 2 ** 30; // bytes
const credentials = { accessKeyId: 'postern', secretAccessKey: 'secretsecretsecret' };

/** The programs of Ceph that a server needs; Debian packages radosgw, ceph-mon and ceph-osd. */
export const radosgwPrograms = ['radosgw', 'radosgw-admin', 'ceph', 'ceph-mon', 'ceph-osd', 'monmaptool'] as const;

/** A real S3 service: Ceph's radosgw, with a monitor and a storage daemon that keeps all objects in memory. */
export interface Radosgw extends AsyncDisposable {
  /** Creates a bucket. @returns the configuration of a location in it */
  newBucket(): Promise<S3Configuration>;
}

/** The settings of a cluster for tests: one of each daemon, on loopback, without authentication between them. */
const settingsOf = (folder: string, fsid: string, ports: { readonly s3: number; readonly monitor: number; readonly storage: number }) => `
[global]
fsid = ${fsid}
mon host = v2:127.0.0.1:${ports.monitor}
mon initial members = a
public addr = 127.0.0.1
cluster addr = 127.0.0.1
run dir = ${folder}
admin socket = ${folder}/$name.asok
log file = ${folder}/$name.log
log to stderr = false
mon data = ${folder}/mon
osd data = ${folder}/osd
rgw data = ${folder}/rgw
ms bind msgr1 = false
ms mon client mode = crc
ms bind port min = ${ports.storage}
ms bind port max = ${ports.storage + 99}
auth cluster required = none
auth service required = none
auth client required = none
auth allow insecure global id reclaim = true
mon allow pool size one = true
mon data avail warn = 1
mon data avail crit = 1
mon max pg per osd = 1000
paxos propose interval = 0.1
osd objectstore = memstore
memstore device bytes = ${objectMemory}
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pgp num = 4
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
rgw frontends = beast endpoint=127.0.0.1:${ports.s3}
rgw thread pool size = 32
rgw enable usage log = false
rgw run sync thread = false
rgw enable quota threads = false
`;

/** Settings with which deleted objects leave the memory after a few seconds, and not after two hours. */
export const fastGarbageCollection = 'rgw gc obj min wait = 1\nrgw gc processor period = 1\nrgw gc processor max time = 1\n';

/** Starts a server. @param createBucket sends a request that creates a bucket @param moreSettings lines of its configuration */
export async function startRadosgw(
  createBucket: (configuration: S3Configuration) => Promise<unknown>,
  moreSettings = '',
): Promise<Radosgw> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-radosgw-'));
  for (const name of ['mon', 'osd', 'rgw']) await mkdir(join(folder, name));
  const ports = { s3: await freePort(), monitor: await freePort(), storage: await freePort() };
  const fsid = randomUUID();
  const osd = randomUUID();
  await writeFile(join(folder, 'ceph.conf'), settingsOf(folder, fsid, ports) + moreSettings);
  const config = ['-c', join(folder, 'ceph.conf')];
  const daemons: ChildProcess[] = [];
  function startDaemon(program: string, ...parameters: string[]): ChildProcess {
    const daemon = spawn(program, [...config, ...parameters, '-f'], { stdio: 'ignore' });
    daemons.unshift(daemon);
    return daemon;
  }
  await run('monmaptool', ['--create', '--addv', 'a', `v2:127.0.0.1:${ports.monitor}`, '--fsid', fsid, join(folder, 'monmap')]);
  await run('ceph-mon', [...config, '--mkfs', '-i', 'a', '--monmap', join(folder, 'monmap')]);
  startDaemon('ceph-mon', '-i', 'a');
  await run('ceph', [...config, '--connect-timeout', '60', 'osd', 'new', osd]);
  await run('ceph-osd', [...config, '-i', '0', '--mkfs', '--osd-uuid', osd]);
  startDaemon('ceph-osd', '-i', '0');
  const gateway = startDaemon('radosgw', '-n', 'client.admin');
  const keys = [`--access-key=${credentials.accessKeyId}`, `--secret-key=${credentials.secretAccessKey}`];
  await run('radosgw-admin', [...config, 'user', 'create', '--uid=postern', '--display-name=postern', ...keys]);
  const endpoint = `http://127.0.0.1:${ports.s3}`;
  const isReady = () =>
    fetch(endpoint).then(
      () => true,
      () => false,
    );
  while (!(await isReady())) if (hasEnded(gateway)) throw new Error('radosgw ended');
  let buckets = 0;
  return {
    async newBucket() {
      buckets += 1;
      const configuration = { endpoint, region: 'default', bucket: `bucket-${buckets}`, pathStyle: true, ...credentials };
      await createBucket(configuration);
      return configuration;
    },
    async [Symbol.asyncDispose]() {
      for (const daemon of daemons) await endProcess(daemon, 'SIGKILL'); // after SIGTERM, each daemon would wait for another one
      await rm(folder, { recursive: true, force: true });
    },
  };
}
