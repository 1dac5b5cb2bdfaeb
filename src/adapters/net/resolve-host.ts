import { lookup, Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';

const hostsFile = '/etc/hosts';
const answerTimeout = { timeout: 2000, tries: 2 }; // ms for the first try; the second may take longer
const maxLookups = 4; // at a time: they occupy threads of the pool that the whole process shares

/** The sources in which names are looked up. Tests replace them. */
export interface NameSources {
  readonly hostsFile: string;
  /** Returns a client of the name servers that this machine uses now. */
  readonly newResolver: () => Pick<Resolver, 'resolve4' | 'resolve6'>;
  /** Looks a name up with the operating system, which also tries search domains. Cannot be aborted. */
  readonly lookUp: (host: string) => Promise<readonly string[]>;
}

const systemSources: NameSources = {
  hostsFile,
  newResolver: () => new Resolver(answerTimeout),
  lookUp: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
};

/** Returns the addresses of a name in a hosts file. */
async function findInHosts(file: string, host: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const entries = text.split('\n').map((line) => line.replace(/#.*/, '').trim().split(/\s+/));
  return entries.flatMap(([address = '', ...names]) => (names.some((name) => name.toLowerCase() === host.toLowerCase()) ? [address] : []));
}

/** Returns whether a name server answered that it does not know a name, or knows no address of it. */
const isUnknownName = (cause: unknown) =>
  cause instanceof Error && 'code' in cause && (cause.code === 'ENOTFOUND' || cause.code === 'ENODATA');

/**
 * Returns a function that returns the addresses of a name: from the hosts file, or else from the name servers. There, a lookup without an
 * answer delays no other lookup. The operating system looks up only names that the name servers do not know, at most four at a time,
 * because each such lookup occupies a thread. Further names count as not found.
 */
export function hostResolver(sources: NameSources = systemSources): (host: string) => Promise<readonly string[]> {
  let lookups = 0;
  async function lookUp(host: string, cause: unknown): Promise<readonly string[]> {
    if (lookups >= maxLookups) throw cause;
    lookups += 1;
    try {
      return await sources.lookUp(host);
    } finally {
      lookups -= 1;
    }
  }
  return async (host) => {
    const hostsAddresses = await findInHosts(sources.hostsFile, host);
    if (hostsAddresses.length > 0) return hostsAddresses;
    const resolver = sources.newResolver();
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const causes: readonly unknown[] = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    const failure = causes.find((cause) => !isUnknownName(cause));
    return failure === undefined ? lookUp(host, causes[0]) : Promise.reject(failure);
  };
}
