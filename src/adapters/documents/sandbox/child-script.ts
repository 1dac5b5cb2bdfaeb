import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scriptUrl } from '#adapters/os/thread.ts';

/** The script of a sandboxed process, and what it must read to start. */
export interface ChildScript {
  readonly script: string;
  readonly readable: readonly string[];
}

/** Returns the folder of the project, which contains the packages. @param file a file in `src` or `build` */
function projectFolder(file: string): string {
  const segments = file.split('/');
  const index = Math.max(segments.lastIndexOf('src'), segments.lastIndexOf('build'));
  return segments.slice(0, index).join('/');
}

/**
 * Returns a script in the folder of a module: TypeScript in a checkout, a single JavaScript file in a build.
 * @param name of the script, without its extension
 * @param moduleUrl `import.meta.url` of the calling module
 */
export function childScript(name: string, moduleUrl: string): ChildScript {
  const script = fileURLToPath(scriptUrl(name, moduleUrl));
  const project = projectFolder(script);
  const code = script.endsWith('.ts') ? join(project, 'src') : script;
  return { script, readable: [code, join(project, 'node_modules'), join(project, 'package.json')] };
}
