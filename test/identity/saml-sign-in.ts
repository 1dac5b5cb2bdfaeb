import { after, type TestContext } from 'node:test';
import { inflateRawSync } from 'node:zlib';
import { type DebianSamlProvider, startSamlProvider } from '../parts/debian-saml-provider.ts';
import { type StartOptions, startPostern } from '../start.ts';
import { createShare } from '../visit/visiting.ts';
import { RedirectedBrowser } from './redirected-browser.ts';

/** A sign-in that a browser has begun. */
interface SamlAttempt {
  readonly browser: RedirectedBrowser;
  readonly requestId: string;
  readonly relayState: string;
  /** Address of the provider to which the browser was sent. */
  readonly url: string;
}

let sharedProvider: Promise<DebianSamlProvider> | undefined;
after(async () => (await sharedProvider)?.close());

/** Starts Postern with a share whose visitors sign in at a SAML provider. The tests of a file share one provider. */
export async function startWithSaml(t: TestContext, configuration: object = {}, start: StartOptions = {}) {
  sharedProvider ??= startSamlProvider();
  const provider = await sharedProvider;
  const postern = await startPostern(t, {
    environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1', POSTERN_TRUSTED_PROXIES: '127.0.0.1' },
    ...start,
  });
  const profile = await postern.call('loginprofile/add', {
    ...{ title: 'Example Inc.', typeId: 6 },
    configuration: JSON.stringify({
      metadataUrl: provider.metadataUrl,
      groupsAttribute: 'groups',
      emailTrust: 'provider',
      ...configuration,
    }),
  });
  const acsUrl = `${postern.publicUrl}/sign-in/saml/${profile.id}`;
  const metadata = await (await fetch(`${acsUrl}/metadata`)).text();
  await provider.serve(metadata);
  const share = await createShare(postern, { authenticationId: profile.id });

  async function begin(base = share.base, browser = new RedirectedBrowser()): Promise<SamlAttempt> {
    const { url } = await browser.open(`${postern.publicUrl}${base}/sign-in/start`, ({ pathname }) => pathname === '/sso');
    const request = inflateRawSync(Buffer.from(url.searchParams.get('SAMLRequest') ?? '', 'base64')).toString();
    const requestId = /ID="([^"]+)"/.exec(request)?.[1] ?? '';
    return { browser, requestId, relayState: url.searchParams.get('RelayState') ?? '', url: url.href };
  }
  /** Posts a response of the provider to Postern. */
  const postResponse = ({ browser, relayState }: Pick<SamlAttempt, 'browser' | 'relayState'>, response: string, withCookies = true) =>
    browser.postForm(acsUrl, { SAMLResponse: response, RelayState: relayState }, withCookies);
  /** Signs a user in with the response that the provider's own page posts. @returns the browser of the user */
  async function signIn(user: string, base = share.base): Promise<RedirectedBrowser> {
    await provider.call(`/next?user=${user}`);
    const attempt = await begin(base);
    const page = await (await fetch(attempt.url)).text();
    await postResponse(attempt, /name="SAMLResponse" value="([^"]+)"/.exec(page)?.[1] ?? '');
    return attempt.browser;
  }
  const list = async (browser: RedirectedBrowser, base = share.base) =>
    (await browser.open(`${postern.publicUrl}${base}/list`)).response.status;
  /** Returns whether the visitor is signed in, the visitor, and the error code if the sign-in failed, otherwise ''. */
  async function outcome(browser: RedirectedBrowser) {
    const { body } = await browser.visit(postern, share.base);
    return { signedIn: body.signIn.signedIn, visitor: body.visitor, code: /#sign-in=(\w+)/.exec(browser.visited.join(' '))?.[1] ?? '' };
  }
  return { provider, postern, profile, share, acsUrl, metadata, begin, postResponse, signIn, list, outcome };
}
