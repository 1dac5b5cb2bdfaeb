import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { RedirectedBrowser } from '../test/identity/redirected-browser.ts';
import { type ForgingProvider, openForgingProvider } from '../test/parts/forging-openid-provider.ts';
import { writeSelfSigned } from '../test/parts/self-signed.ts';
import { shareBody } from '../test/parts/share-body.ts';
import { atLeast, atMost, comparisonFigure, type Figure, measurePairs, percentile } from './figures.ts';
import { measureRate } from './load.ts';
import { type BenchPostern, bareLoopDelay, loopDelay, startPostern } from './postern.ts';
import { type MeasuredServer, startServer } from './process.ts';

type Note = (figure: Figure) => void;

const rounds = 5;
const hangingRounds = 3; // each takes 12 s
const password = 'correct horse battery';
const visitorsThatSignIn = 200;
const environment = { POSTERN_PRIVATE_TARGETS: '127.0.0.1', POSTERN_TRUSTED_PROXIES: '127.0.0.1' };

async function visitUrl(postern: BenchPostern, authenticationId: number): Promise<string> {
  const { viewId } = await postern.call('share/add', { ...shareBody, authenticationId });
  return `${postern.url}/s/${viewId}`;
}

/** Signs a visitor in at a provider. @returns the cookie of the session */
async function oidcCookie(link: string, provider: ForgingProvider, groups: number): Promise<string> {
  const names = Array.from({ length: groups }, (_, number) => `group-${number}`);
  provider.idToken = () => provider.sign(provider.claims({ groups: names }));
  const browser = new RedirectedBrowser();
  await browser.open(`${link}/sign-in/start`);
  return browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
}

/** Compares visits with a session of a provider and visits with a session of an access user. */
async function measureSessions(note: Note, postern: BenchPostern, provider: ForgingProvider): Promise<void> {
  const users = await postern.call('loginprofile/add', { title: 'Users', typeId: 3 });
  await postern.call('accessuser/add', { username: 'ann', active: true, authId: users.id });
  const passwords = { userPassword: password, confirmPassword: password };
  await postern.call('accessuser/updateUserPassword', { username: 'ann', authId: users.id, ...passwords });
  const usersLink = await visitUrl(postern, users.id);
  const headers = { 'content-type': 'application/json' };
  const signedIn = await fetch(`${usersLink}/sign-in`, { method: 'POST', headers, body: JSON.stringify({ username: 'ann', password }) });
  const cookie = signedIn.headers
    .getSetCookie()
    .map((set) => set.split(';', 1)[0])
    .join('; ');
  const configuration = JSON.stringify({ ...provider.configuration, groupsClaim: 'groups' });
  const providerLink = await visitUrl(
    postern,
    (await postern.call('loginprofile/add', { title: 'Provider', typeId: 5, configuration })).id,
  );
  for (const [groups, target] of [
    [50, 0.95],
    [1000, 0.8],
  ] as const) {
    const providerCookie = await oidcCookie(providerLink, provider, groups);
    const pair = await measurePairs(
      rounds,
      () => measureRate({ url: `${usersLink}/visit`, headers: { cookie } }, 8, 1),
      () => measureRate({ url: `${providerLink}/visit`, headers: { cookie: providerCookie } }, 8, 1),
      2,
    );
    note(atLeast(`visit with an OIDC session of ${groups} groups, compared with a session of an access user`, 'requests/s', pair, target));
  }
}

let nextNumber = 0;
/**
 * Returns a request that comes from the next one of 65,536 wide networks each time it is sent. From a single network, it
 * would reach the rate limit.
 */
const fromManyNetworks = (over: object): autocannon.Request => ({
  setupRequest(request) {
    nextNumber += 1;
    const address = `10.${nextNumber & 255}.${(nextNumber >> 8) & 255}.1`;
    return { ...request, ...over, headers: { ...request.headers, 'x-forwarded-for': address } };
  },
});

async function measureSignInStarts(note: Note, postern: BenchPostern, provider: ForgingProvider, bare: MeasuredServer): Promise<void> {
  const configuration = JSON.stringify(provider.configuration);
  const { id } = await postern.call('loginprofile/add', { title: 'Starts', typeId: 5, configuration });
  const link = await visitUrl(postern, id);
  const responses = async (url: string) => {
    const load = await autocannon({ url, connections: 8, duration: 2, requests: [fromManyNetworks({})] });
    return (load['2xx'] + load['3xx']) / load.duration;
  };
  const compareWithBare = (url: string) =>
    measurePairs(
      rounds,
      () => responses(`${bare.url}/redirect`),
      () => responses(url),
    );
  note(
    atLeast(
      'start of a sign-in at a provider, compared with a bare redirect',
      'requests/s',
      await compareWithBare(`${link}/sign-in/start`),
      0.5,
    ),
  );
  const minimalTitle =
    'the same by the smallest program that checks a link and a limit, and sets headers and a cookie with state, nonce and PKCE verifier';
  note(comparisonFigure(minimalTitle, 'requests/s', await compareWithBare(`${bare.url}/sign-in/link`)));
  await using withoutLink = await startServer(
    join(import.meta.dirname, 'servers/start-without-link.ts'),
    [provider.issuer],
    {},
    /ready (\d+)/,
  );
  const partsTitle = 'the same by the HTTP server, limit, OpenID library, encryption and cookie of Postern alone: no link, no database';
  note(comparisonFigure(partsTitle, 'requests/s', await compareWithBare(`${withoutLink.url}/sign-in/link`)));
  const visitTitle = 'a visit without a sign-in, compared with a bare redirect: the minimum that a request at a link costs';
  note(comparisonFigure(visitTitle, 'requests/s', await compareWithBare(`${await visitUrl(postern, 1)}/visit`)));
}

/** Returns the time in ms within which 99 of 100 visits were answered. */
async function p99(url: string): Promise<number> {
  const times: number[] = [];
  const ended = Promise.withResolvers<void>();
  const load = autocannon({ url, connections: 4, duration: 5 }, () => ended.resolve());
  load.on('response', (_client, _status, _bytes, time) => times.push(time));
  await ended.promise;
  return percentile(times, 0.99);
}

/** Returns the time in ms within which 99 of 100 visits were answered while visitors signed in. */
async function p99BesideSignIns(visit: string, signIn: string): Promise<number> {
  const body = JSON.stringify({ username: 'ann', password });
  const signIns = autocannon({
    ...{ url: signIn, method: 'POST', headers: { 'content-type': 'application/json' }, requests: [fromManyNetworks({ body })] },
    ...{ connections: visitorsThatSignIn, duration: 7, overallRate: visitorsThatSignIn },
  });
  const beside = await p99(visit);
  await signIns;
  return beside;
}

/** Returns the figure for our time divided by the reference's time. This ratio may be at most `bound`. */
function timesAtMost(what: string, { reference, ours, ratio, spread }: Awaited<ReturnType<typeof measurePairs>>, bound: number): Figure {
  const figure = atMost(what, ratio, bound, 'times');
  return { ...figure, reference: `${reference.toFixed(2)} ms`, ours: `${ours.toFixed(2)} ms`, ratio: `${ratio.toFixed(2)} (${spread})` };
}

/** Measures visits while visitors sign in at a directory that accepts connections and never answers. */
async function measureHangingDirectory(note: Note, postern: BenchPostern, bare: MeasuredServer): Promise<void> {
  const directory = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  await once(directory, 'listening');
  const address = directory.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const configuration = JSON.stringify({
    ...{ url: `ldap://127.0.0.1:${port}`, baseDn: 'dc=test', bindDn: 'cn=reader', bindPassword: 'x', userFilter: '(uid={username})' },
  });
  const { id } = await postern.call('loginprofile/add', { title: 'Directory', typeId: 7, configuration });
  const signIn = `${await visitUrl(postern, id)}/sign-in`;
  const compareVisits = async (visit: string, url: string) =>
    measurePairs(
      hangingRounds,
      () => p99(visit),
      () => p99BesideSignIns(visit, url),
    );
  const what = `p99 of a visit while ${visitorsThatSignIn} visitors sign in at a directory that hangs`;
  note(timesAtMost(what, await compareVisits(`${await visitUrl(postern, 1)}/visit`, signIn), 2));
  const minimal = await compareVisits(`${bare.url}/fixed`, `${bare.url}/hang`);
  note({
    ...timesAtMost('the same at a bare server that never answers the sign-ins', minimal, Number.POSITIVE_INFINITY),
    target: 'none: for comparison',
  });
  directory.close();
}

/** Returns a form with an unsigned SAML response. @param bytes approximate length of its XML */
function forgedForm(bytes: number): string {
  const attribute = '<saml:Attribute Name="groups"><saml:AttributeValue>staff</saml:AttributeValue></saml:Attribute>';
  const names = 'xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"';
  const xml = `<samlp:Response ${names} ID="_1" Version="2.0">${attribute.repeat(bytes / attribute.length)}</samlp:Response>`;
  return new URLSearchParams({ SAMLResponse: Buffer.from(xml).toString('base64') }).toString();
}

/** Measures how forged SAML responses delay other requests. Postern reads the shorter ones, and refuses the longer ones unread. */
async function measureForgedResponses(note: Note, postern: BenchPostern, folder: string, bare: MeasuredServer): Promise<void> {
  const { certificate } = writeSelfSigned(folder, 'idp.example');
  const provider = { entityId: 'urn:idp', entryPoint: 'https://idp.example/sso', certificates: [readFileSync(certificate, 'utf8')] };
  const { id } = await postern.call('loginprofile/add', { title: 'SAML', typeId: 6, configuration: JSON.stringify(provider) });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  for (const [size, bytes] of [
    ['190 KiB', 190 << 10],
    ['1 MiB', 1 << 20],
  ] as const) {
    const body = forgedForm(bytes);
    const sendTo = (url: string) =>
      autocannon({ url, method: 'POST', headers, body, requests: [fromManyNetworks({ body })], connections: 1, duration: 5 });
    await loopDelay(postern);
    await sendTo(`${postern.url}/sign-in/saml/${id}`);
    const what = `forged SAML responses of ${size}, one after the other: p99 delay of the event loop`;
    note(atMost(what, await loopDelay(postern), 20, 'ms'));
    await bareLoopDelay(bare);
    await sendTo(`${bare.url}/refuse`);
    const minimal = atMost(
      'the same at a bare server that refuses each one unread',
      await bareLoopDelay(bare),
      Number.POSITIVE_INFINITY,
      'ms',
    );
    note({ ...minimal, target: 'none: for comparison' });
  }
}

export async function measureIdentity(note: Note, folder: string, bare: MeasuredServer): Promise<void> {
  const { provider, close } = await openForgingProvider();
  await using postern = await startPostern(folder, environment);
  try {
    await measureSessions(note, postern, provider);
    await measureSignInStarts(note, postern, provider, bare);
    await measureForgedResponses(note, postern, folder, bare);
    await measureHangingDirectory(note, postern, bare);
  } finally {
    close();
  }
}
