import { type Expiring, TemporarySecret } from '#adapters/storage/objects/temporary-secret.ts';

const resource = 'https://storage.azure.com/';
const timeout = 5_000; // ms

interface MachineToken extends Expiring {
  readonly text: string;
}

/**
 * Returns the URL and the headers of the request for a token. App Service and Container Apps name an address in the environment; other
 * machines use a fixed address.
 */
function metadataAddress(environment: NodeJS.ProcessEnv): { readonly url: URL; readonly headers: Record<string, string> } {
  const { IDENTITY_ENDPOINT: endpoint, IDENTITY_HEADER: secret } = environment;
  const isApp = endpoint !== undefined && secret !== undefined;
  const url = new URL(isApp ? endpoint : 'http://169.254.169.254/metadata/identity/oauth2/token');
  url.searchParams.set('api-version', isApp ? '2019-08-01' : '2018-02-01');
  url.searchParams.set('resource', resource);
  return { url, headers: isApp ? { 'x-identity-header': secret } : { metadata: 'true' } };
}

/** Returns the token in the response of a metadata service. @throws Error if there is none */
function readToken(body: unknown): MachineToken {
  if (typeof body !== 'object' || body === null || !('access_token' in body) || !('expires_on' in body))
    throw new Error('there is no token');
  return { text: String(body.access_token), expires: Number(body.expires_on) * 1000 };
}

async function fetchFromMetadata(): Promise<MachineToken> {
  const { url, headers } = metadataAddress(process.env);
  const response = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(timeout) });
  if (!response.ok) throw new Error(`the metadata service answered ${response.status}`);
  return readToken(await response.json());
}

/** The token of the managed identity of this machine. */
export class MachineTokens {
  readonly #token: TemporarySecret<MachineToken>;

  /** @param now returns ms since the epoch @param fetchToken fetches a new token */
  constructor(now: () => number = Date.now, fetchToken: () => Promise<MachineToken> = fetchFromMetadata) {
    this.#token = new TemporarySecret(now, fetchToken, 'this machine has no managed identity, or its metadata service does not respond');
  }

  /** Returns a valid token. @throws StorageUnavailable if the machine has no identity, or its metadata service does not respond */
  async get(): Promise<string> {
    return (await this.#token.get()).text;
  }
}
