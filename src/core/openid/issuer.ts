import { isLoopbackHost } from '#core/loopback.ts';

/** Segments of issuers of Microsoft Entra ID that stand for every organization, or for all private accounts: they would admit everybody. */
const sharedTenants: readonly string[] = ['common', 'organizations', 'consumers', '9188040d-6c67-4c5b-b112-36a304b66dad'];

const segmentsOf = ({ pathname }: URL) => pathname.split('/').map((segment) => decodeSegment(segment).toLowerCase());

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // a % that does not begin a percent-encoded byte
  }
}

/** Returns why an address cannot be the issuer at which visitors or operators sign in, or null. */
export function issuerProblem(issuer: string): string | null {
  const url = URL.parse(issuer);
  if (url === null) return 'must be an address such as https://login.example.com';
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '')
    return 'must be an address without a query, a fragment, a user name or a password';
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopbackHost(url.hostname)))
    return 'must begin with https://, unless it is on this machine';
  const sharedTenant = segmentsOf(url).find((segment) => sharedTenants.includes(segment));
  if (sharedTenant !== undefined && /(^|\.)(microsoftonline\.com|microsoftonline\.us|windows\.net)$/.test(url.hostname))
    return `must name one organization: "${sharedTenant}" admits users from outside of your organization`;
  return null;
}

/**
 * Returns whether the issuer in a provider's metadata stands for several organizations: Microsoft Entra ID then puts a placeholder in it.
 */
export const isSharedIssuer = (issuer: string): boolean => /[{}]|%7[bd]/i.test(issuer);
