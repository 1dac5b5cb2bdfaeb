import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endProcess } from './end-process.ts';
import { freePort } from './free-port.ts';
import { isInstalled } from './is-installed.ts';

const python = '/usr/bin/python3'; // only this interpreter finds Debian's Python modules

/** Returns the programs and packages that are missing for the provider, or an empty string. */
export function missingForSamlProvider(): string {
  const missing = ['xmlsec1', 'openssl'].filter((program) => !isInstalled(program));
  const hasLibrary = spawnSync(python, ['-c', 'import saml2']).status === 0;
  return [...missing, ...(hasLibrary ? [] : ['python3-pysaml2'])].join(', ');
}

/** A SAML provider that shares no code with Postern (Debian's pysaml2 and xmlsec1). Its users are `ann` and `bob`. */
export interface DebianSamlProvider {
  readonly metadataUrl: string;
  /** Gives the provider the metadata of a service provider. @returns the address to which the SAML provider will send responses */
  serve(metadata: string): Promise<string>;
  /** Calls a path of the provider; debian-saml-provider.py lists the paths. @returns the text of the response */
  call(path: string): Promise<string>;
  /** Returns a response in base64. @param name one of the names at `/cases` @param request ID of the request that it answers */
  respond(name: string, request: string): Promise<string>;
  /** Suspends the process of the provider until `resume` is called. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

async function waitUntilReady({ stdout }: ChildProcess): Promise<void> {
  if (!stdout) throw new Error('the SAML provider has no output');
  const [text] = await Promise.race([once(stdout, 'data'), once(stdout, 'end')]);
  if (!String(text).includes('ready')) throw new Error(`the SAML provider did not start: ${text ?? 'it ended'}`);
}

/** Starts a provider. @throws Error if it does not start */
export async function startSamlProvider(): Promise<DebianSamlProvider> {
  const [port, folder] = [await freePort(), await mkdtemp(join(tmpdir(), 'saml-'))];
  const script = join(import.meta.dirname, 'debian-saml-provider.py');
  const child = spawn(python, [script, String(port), folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  async function close(): Promise<void> {
    await endProcess(child, 'SIGKILL');
    await rm(folder, { recursive: true });
  }
  try {
    await waitUntilReady(child);
  } catch (cause) {
    await close();
    throw cause;
  }
  const url = `http://127.0.0.1:${port}`;
  async function call(path: string, body?: string): Promise<string> {
    const response = await fetch(url + path, body === undefined ? {} : { method: 'POST', body });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
    return text;
  }
  return {
    metadataUrl: `${url}/metadata`,
    call: (path) => call(path),
    serve: (metadata) => call('/service-provider', metadata),
    respond: (name, request) => call(`/response?${new URLSearchParams({ case: name, request })}`),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    close,
  };
}
