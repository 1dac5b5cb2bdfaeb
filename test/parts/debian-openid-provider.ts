import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { until } from '../ports/until.ts';
import { atEnd } from './at-end.ts';
import { endProcess } from './end-process.ts';
import { isInstalled } from './is-installed.ts';

const documentation = '/usr/share/doc/glewlwyd';
const schema = join(documentation, 'database/init.sqlite3.sql.gz');
const sample = join(documentation, 'glewlwyd.conf.sample.gz');

/** Returns the programs and files that the provider lacks, or an empty string. */
export const missingForDebianProvider = (): string =>
  ['glewlwyd', 'sqlite3', 'openssl']
    .filter((program) => !isInstalled(program))
    .concat([schema, sample].filter((file) => !existsSync(file)))
    .join(', ');

/** An OpenID provider written in C (Debian's glewlwyd). Its user is `ann` with the password `ann-secret`. */
export interface DebianOpenIdProvider {
  readonly url: string;
  readonly configuration: { readonly issuer: string; readonly clientId: string; readonly clientSecret: string };
}

/** Returns the lines of the sample configuration, changed for a provider on this machine. */
function settingsFor(folder: string, port: number, url: string): string {
  const values: Readonly<Record<string, string>> = {
    port: String(port),
    bind_address: '"127.0.0.1"',
    external_url: `"${url}"`,
    cookie_domain: '"127.0.0.1"',
    cookie_secure: '0',
    static_files_path: `"${folder}/static/"`,
    log_level: '"WARNING"',
  };
  const lines = gunzipSync(readFileSync(sample)).toString('utf8').replaceAll('/var/cache/glewlwyd/glewlwyd.db', join(folder, 'db'));
  const otherLines = lines.split('\n').filter((line) => !Object.keys(values).some((name) => new RegExp(`^#*${name} *=`).test(line)));
  return [...Object.entries(values).map(([name, value]) => `${name}=${value}`), ...otherLines].join('\n');
}

function run(program: string, parameters: readonly string[], input?: Buffer): void {
  const { status, stderr } = spawnSync(program, parameters, { ...(input ? { input } : {}), encoding: 'buffer' });
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
}

async function prepare(folder: string, port: number, url: string): Promise<{ key: string; publicKey: string; configFile: string }> {
  await mkdir(join(folder, 'static'), { recursive: true });
  run('sqlite3', [join(folder, 'db')], gunzipSync(readFileSync(schema)));
  const [keyFile, publicFile, configFile] = [join(folder, 'key.pem'), join(folder, 'public.pem'), join(folder, 'conf')];
  run('openssl', ['genrsa', '-out', keyFile, '2048']);
  run('openssl', ['rsa', '-in', keyFile, '-pubout', '-out', publicFile]);
  await writeFile(configFile, settingsFor(folder, port, url));
  return { key: readFileSync(keyFile, 'utf8'), publicKey: readFileSync(publicFile, 'utf8'), configFile };
}

const pluginOf = (url: string, key: string, cert: string) => ({
  ...{ module: 'oidc', name: 'oidc', display_name: 'test' },
  parameters: {
    ...{ iss: `${url}/api/oidc`, 'jwt-type': 'rsa', 'jwt-key-size': '256', key, cert, 'jwks-show': true, 'subject-type': 'public' },
    ...{ 'access-token-duration': 600, 'refresh-token-duration': 600, 'code-duration': 60, 'refresh-token-rolling': true },
    ...{ 'allow-non-oidc': true, 'auth-type-code-enabled': true, 'auth-type-token-enabled': false, 'auth-type-id-token-enabled': true },
    ...{ 'auth-type-none-enabled': false, 'auth-type-password-enabled': false, 'auth-type-client-enabled': false },
    ...{ 'auth-type-device-enabled': false, 'auth-type-refresh-enabled': true, scope: [], 'additional-parameters': [], claims: [] },
    ...{ 'name-claim': 'mandatory', 'name-claim-scope': [], 'email-claim': 'mandatory', 'email-claim-scope': [], 'scope-claim': 'no' },
    ...{ 'request-parameter-allow': false, 'pkce-allowed': true, 'pkce-method-plain-allowed': false },
    ...{ 'introspection-revocation-allowed': false, 'register-client-allowed': false, 'session-management-allowed': false },
  },
});

/** Returns a function that calls the API of the provider as its administrator. */
function adminClient(url: string) {
  let cookie = '';
  return async (path: string, body: object) => {
    const response = await fetch(`${url}/api/${path}`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json', cookie }, body: JSON.stringify(body) },
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    cookie =
      response.headers
        .getSetCookie()
        .map((header) => header.split(';', 1)[0])
        .join('; ') || cookie;
  };
}

/** Starts the provider. @param redirect URI to which browsers are sent back @param folder an empty folder */
export async function startDebianOpenIdProvider(
  t: TestContext,
  redirect: string,
  folder: string,
  port: number,
): Promise<DebianOpenIdProvider> {
  const url = `http://127.0.0.1:${port}`;
  const { key, publicKey, configFile } = await prepare(folder, port, url);
  const child = spawn('glewlwyd', [`--config-file=${configFile}`], { stdio: 'ignore' });
  atEnd(t, () => endProcess(child, 'SIGKILL'));
  await until(async () => (await fetch(`${url}/config/`).catch(() => null))?.ok === true);
  const call = adminClient(url);
  const clientSecret = 'a-secret-with-a-hyphen';
  await call('auth/', { username: 'admin', password: 'password' });
  await call('mod/plugin/', pluginOf(url, key, publicKey));
  const ann = { username: 'ann', password: 'ann-secret', name: 'Ann Archer', email: 'ann@example.com', enabled: true };
  await call('user/', { ...ann, scope: ['openid', 'g_profile'] });
  await call('client/', {
    ...{ client_id: 'postern', name: 'postern', confidential: true, enabled: true, client_secret: clientSecret, password: clientSecret },
    ...{ redirect_uri: [redirect], authorization_type: ['code', 'id_token', 'refresh_token'], scope: [] },
    token_endpoint_auth_method: ['client_secret_basic', 'client_secret_post'],
  });
  return { url, configuration: { issuer: `${url}/api/oidc`, clientId: 'postern', clientSecret } };
}
