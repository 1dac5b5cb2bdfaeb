// Preloaded by `npm test`, which has just built the server: threads run from this build. A thread that is started from TypeScript takes
// three times as long to start.
import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import workerThreads from 'node:worker_threads';

const root = join(import.meta.dirname, '../..');
const sources = pathToFileURL(join(root, 'src/')).href;

/** Returns the script of the build for a script of the sources; `script` itself if there is none. */
function builtScript(script) {
  if (!(script instanceof URL) || !script.href.startsWith(sources)) return script;
  const built = join(root, 'build/server', `${basename(fileURLToPath(script), '.ts')}.mjs`);
  return existsSync(built) ? pathToFileURL(built) : script;
}

if (workerThreads.isMainThread) {
  workerThreads.Worker = class extends workerThreads.Worker {
    constructor(script, options) {
      super(builtScript(script), { execArgv: [], ...options });
    }
  };
  syncBuiltinESMExports();
}
