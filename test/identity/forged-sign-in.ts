import type { TestContext } from 'node:test';
import { startForgingProvider } from '../parts/forging-openid-provider.ts';
import { type StartOptions, startPostern } from '../start.ts';
import { createShare } from '../visit/visiting.ts';
import type { RedirectedBrowser } from './redirected-browser.ts';

export const base64urlJson = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
export const nowInSeconds = () => Math.floor(Date.now() / 1000);

/** Starts Postern with a share whose visitors sign in at a provider that a test controls. */
export async function startWithForgingProvider(t: TestContext, configuration: object = {}, options: StartOptions = {}) {
  const provider = await startForgingProvider(t);
  const postern = await startPostern(t, { environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1' }, ...options });
  const profile = await postern.call('loginprofile/add', {
    ...{ title: 'Example Inc.', typeId: 5 },
    configuration: JSON.stringify({ ...provider.configuration, ...configuration }),
  });
  const share = await createShare(postern, { authenticationId: profile.id });
  const begin = (browser: RedirectedBrowser, base = share.base, stop?: (url: URL) => boolean) =>
    browser.open(`${postern.publicUrl}${base}/sign-in/start`, stop);
  /** Begins a sign-in, and returns the address with which the browser would return to Postern. */
  const beginOnly = (browser: RedirectedBrowser) => begin(browser, share.base, ({ pathname }) => pathname.startsWith('/sign-in/oidc/'));
  /** Returns whether the visitor is signed in, the visitor, and the error code of a failed sign-in, or ''. */
  async function outcome(browser: RedirectedBrowser) {
    const { body } = await browser.visit(postern, share.base);
    const code = /#sign-in=(\w+)/.exec(browser.visited.join(' '))?.[1] ?? '';
    return { signedIn: body.signIn.signedIn, visitor: body.visitor, code };
  }
  return { provider, postern, profile, share, begin, beginOnly, outcome };
}
