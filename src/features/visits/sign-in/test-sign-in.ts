import { Refusal } from '#core/messages.ts';
import { openPending, sealPending } from '#features/provider-sign-ins/pending-sign-in.ts';
import { providerRefusal } from '#features/provider-sign-ins/provider-refusal.ts';
import { redirectUrlOf } from '#features/provider-sign-ins/redirect-url.ts';
import { openTestToken } from '#features/provider-sign-ins/test-token.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import { findSignInKind } from '#features/visits/sessions/find-sign-in-kind.ts';
import type { Ports } from '#ports/ports.ts';
import type { CompletedSignIn, Identity, ProfileRef, RedirectSignIn, SingleUseSignIn, StatedValues } from '#ports/sign-in.ts';
import { findProfileRef } from './find-profile-ref.ts';
import type { ProviderReturn, ProviderStart } from './provider-sign-in.ts';

const purpose = 'test of a sign-in';

type TestPorts = Pick<Ports, 'store' | 'clock' | 'vault' | 'links'> & Pick<VisitServices, 'signInKinds' | 'providerRequests'>;

/** State of a started test, stored encrypted in a cookie until the browser returns. */
interface PendingTest {
  readonly profileId: number;
  readonly epoch: number;
  readonly state: string;
  /** What the kind of sign-in needs at the end. */
  readonly pending: string;
}

/** The result of a test. Nobody was signed in. */
export interface TestOutcome {
  /** Whom a sign-in would admit; null: it would be refused. */
  readonly identity: Identity | null;
  /** Why a sign-in would be refused, for the operator; empty: it would not be refused. */
  readonly problem: string;
  /** What the provider has sent about the user. */
  readonly statedValues: StatedValues;
}

/** Returns a profile with a provider. @throws Refusal (404) */
async function findProvider(
  { store, signInKinds }: TestPorts,
  profileId: number,
): Promise<{ profile: ProfileRef; redirect: RedirectSignIn }> {
  const profile = await findProfileRef(store.read, profileId);
  const redirect = profile && findSignInKind(signInKinds, profile)?.redirect;
  if (!profile || !redirect) throw new Refusal('notFound');
  return { profile, redirect };
}

const problemOf = (refusal: Refusal) => refusal.extras.forOperator ?? refusal.message;

/**
 * Begins a test of a sign-in. Stores nothing.
 * @param token from loginprofile/testSignIn
 * @returns where the browser goes and what it keeps, or the result if the sign-in is refused, for example because the provider is not
 *   available
 * @throws Refusal (404) if the token is wrong or too old, or the profile has no provider any more; (503) after too many requests
 */
export async function beginTestSignIn(ports: TestPorts, token: string, address: string): Promise<ProviderStart | TestOutcome> {
  const permission = openTestToken(ports, token);
  if (!permission) throw new Refusal('notFound', 'The address of this test is wrong or has expired. Begin the test again in the console.');
  const { profile, redirect } = await findProvider(ports, permission.profileId);
  if (profile.tid !== permission.tid) throw new Refusal('notFound');
  const { profile_id: profileId, session_epoch: epoch } = profile;
  const { protocol } = redirect;
  ports.providerRequests.count(address, profileId);
  try {
    const { url, state, pending } = await redirect.begin(profile, redirectUrlOf(ports.links.publicUrl(), protocol, profileId));
    const test: PendingTest = { profileId, epoch, state, pending };
    return { url, cookie: { state, protocol, value: sealPending(ports, purpose, test) } };
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
    return { identity: null, problem: problemOf(cause), statedValues: {} };
  }
}

/** Marks a single-use statement as used, so that nobody can sign in with it after the test. @throws Refusal (401) if it was used before */
async function markAsUsed({ store }: TestPorts, { tid }: ProfileRef, signIn: CompletedSignIn | SingleUseSignIn): Promise<void> {
  if (!('markStatementUsed' in signIn)) return;
  if (!(await store.write((tx) => signIn.markStatementUsed(tx), { tenant: tid })))
    throw providerRefusal('The response of the provider was used before.');
}

/**
 * Completes a test when the browser returns from the provider.
 * @returns the result; null: the browser has not begun this test
 * @throws Refusal (404) if the profile has no provider any more; (503) after too many requests
 */
export async function completeTestSignIn(ports: TestPorts, providerReturn: ProviderReturn): Promise<TestOutcome | null> {
  const { profileId, protocol, state, parameters, address } = providerReturn;
  const sealed = providerReturn.cookieOf(state);
  const test = sealed === null ? null : openPending<PendingTest>(ports, purpose, sealed);
  if (test?.state !== state || test.profileId !== profileId) return null;
  const { profile, redirect } = await findProvider(ports, profileId);
  if (profile.session_epoch !== test.epoch)
    return { identity: null, problem: 'The login profile has changed. Begin the test again.', statedValues: {} };
  ports.providerRequests.count(address, profileId);
  let stated: StatedValues = {};
  const response = {
    ...{ redirectUrl: redirectUrlOf(ports.links.publicUrl(), protocol, profileId), parameters, address },
    onStatement: (values: StatedValues) => {
      stated = values;
    },
  };
  try {
    const signIn = await redirect.finish(profile, response, test.pending);
    if (signIn instanceof Refusal) throw signIn;
    await markAsUsed(ports, profile, signIn);
    return { identity: signIn.identity, problem: '', statedValues: stated };
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
    return { identity: null, problem: problemOf(cause), statedValues: stated };
  }
}
