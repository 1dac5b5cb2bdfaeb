/** Segments of issuers of Microsoft Entra ID that stand for every organization: they would admit everybody. */
const sharedTenants: readonly string[] = ['common', 'organizations', 'consumers'];

/** Hosts of this machine: a connection to them needs no encryption. */
const isLoopback = (hostname: string) => hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);

/** Returns why an address cannot be the issuer of a login profile, or null. */
export function issuerProblem(issuer: string): string | null {
  const url = URL.parse(issuer);
  if (url === null) return 'must be an address such as https://login.example.com';
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '')
    return 'must be an address without a query, a fragment or a password';
  if (url.protocol !== 'https:' && !isLoopback(url.hostname)) return 'must begin with https://, unless it is on this machine';
  const shared = url.pathname.split('/').find((segment) => sharedTenants.includes(segment));
  if (shared !== undefined && /(^|\.)(microsoftonline\.com|microsoftonline\.us|windows\.net)$/.test(url.hostname))
    return `must name one organization: "${shared}" admits the users of all organizations`;
  return null;
}
