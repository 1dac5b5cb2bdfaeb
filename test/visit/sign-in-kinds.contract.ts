import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { KyselyPlugin } from 'kysely';
import { Refusal } from '#core/messages.ts';
import { checkSignIn } from '#features/visits/sessions/visitor-identity.ts';
import { signInKinds } from '#features/visits/sign-in/sign-in-kinds.ts';
import type { CompletedSignIn, PasswordCredentials, ProfileRef, SignInAttempt, SignInType } from '#ports/sign-in.ts';
import { cookieOf, startPostern, type TestPostern } from '../start.ts';
import { basicAuthorization, createShare, jsonPostRequest, sendPath } from './visiting.ts';

/** A login profile with a visitor who can sign in with a password. */
export interface PasswordVisitor {
  readonly profileId: number;
  readonly credentials: PasswordCredentials;
  readonly wrongCredentials: readonly PasswordCredentials[];
  /** Credentials of another visitor of the profile, or null if all visitors of the profile have the same subject. */
  readonly otherCredentials: PasswordCredentials | null;
  /** Changes the name of the visitor. @returns the credentials of the visitor after the change */
  rename(): Promise<PasswordCredentials>;
  /** Changes that end the sign-in, by title. */
  readonly endings: Readonly<Record<string, () => Promise<unknown>>>;
}

/** Creates a login profile of a kind of sign-in, with a visitor. */
export type CreateVisitor = (postern: TestPostern, t: TestContext) => Promise<PasswordVisitor>;

const readProfile = (postern: TestPostern, id: number): Promise<ProfileRef> =>
  postern.ports.store.read
    .selectFrom('login_profile')
    .select(['tid', 'id as profile_id', 'type_id', 'session_epoch', 'username as profile_username'])
    .where('tid', '=', 1)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

/** How a kind of sign-in differs from others. */
interface KindFeatures {
  /** The names of `PasswordVisitor.endings`. */
  readonly endings: readonly string[];
  /** Whether visitors have a password of their own, which they can replace. */
  readonly hasOwnPassword: boolean;
  readonly environment?: Readonly<Record<string, string>>;
  /** What is missing for the tests of this kind. */
  readonly missing?: string;
}

/** Tests that every kind of sign-in with a password must pass. */
export function passwordKindContract(
  type: SignInType,
  create: CreateVisitor,
  { endings, hasOwnPassword, environment = {}, missing = '' }: KindFeatures,
): void {
  const options = { skip: missing === '' ? false : `not installed: ${missing}` };
  async function start(t: TestContext) {
    const postern = await startPostern(t, { environment });
    const visitor = await create(postern, t);
    const kinds = signInKinds(postern.ports);
    const kind = kinds[type];
    assert.ok(kind?.password);
    const { password } = kind;
    const profile = () => readProfile(postern, visitor.profileId);
    const countedResults: (CompletedSignIn | null)[] = [];
    const attempt: SignInAttempt = {
      address: '198.51.100.7',
      async countAttempt(verify) {
        const result = await verify();
        countedResults.push(result);
        if (!result) throw new Refusal('signInWrong');
        return result;
      },
    };
    const signIn = async (credentials = visitor.credentials) => password.verify(await profile(), credentials, attempt);
    const assertWrong = async (credentials: PasswordCredentials) =>
      assert.rejects(signIn(credentials), { messageName: 'signInWrong' }, credentials.username);
    /** Returns the current subject of a sign-in, or null if the sign-in has ended. */
    const subjectOf = async (completedSignIn: CompletedSignIn) =>
      (await checkSignIn(kinds, await profile(), { profileId: visitor.profileId, signIn: completedSignIn }))?.subject ?? null;
    return { postern, visitor, kinds, kind, password, profile, attempt, countedResults, signIn, assertWrong, subjectOf };
  }

  test(`the right credentials give an identity that a session can store (${type})`, options, async (t) => {
    const { signIn, profile, countedResults } = await start(t);
    const before = Date.now();
    const completedSignIn = await signIn();
    assert.notEqual(completedSignIn.identity.subject, '');
    assert.deepEqual(JSON.parse(JSON.stringify(completedSignIn.identity)), completedSignIn.identity);
    assert.ok(completedSignIn.claimsAt >= before && completedSignIn.claimsAt <= Date.now());
    assert.equal(completedSignIn.profileEpoch, (await profile()).session_epoch);
    assert.deepEqual(countedResults, [completedSignIn]);
  });

  test(`each verification of wrong credentials is counted as one attempt and gives no identity (${type})`, options, async (t) => {
    const { visitor, assertWrong, countedResults } = await start(t);
    for (const credentials of visitor.wrongCredentials) await assertWrong(credentials);
    assert.deepEqual(
      countedResults,
      visitor.wrongCredentials.map(() => null),
    );
  });

  test(`during the wait after failed attempts, the right credentials are refused (${type})`, options, async (t) => {
    const { visitor, password, profile } = await start(t);
    const countAttempt: SignInAttempt['countAttempt'] = () => Promise.reject(new Refusal('tooManyFailures'));
    const verification = password.verify(await profile(), visitor.credentials, { address: '198.51.100.7', countAttempt });
    await assert.rejects(verification, { messageName: 'tooManyFailures' });
  });

  test(`a visitor keeps their subject when their name changes, and another visitor has another subject (${type})`, options, async (t) => {
    const { visitor, signIn, subjectOf } = await start(t);
    const { subject } = (await signIn()).identity;
    if (visitor.otherCredentials) assert.notEqual((await signIn(visitor.otherCredentials)).identity.subject, subject);
    const signInAfterRename = await signIn(await visitor.rename());
    assert.equal(signInAfterRename.identity.subject, subject);
    assert.equal(await subjectOf(signInAfterRename), subject);
  });

  test(`checking a sign-in again takes at most one query (${type})`, options, async (t) => {
    const { postern, visitor, profile, signIn } = await start(t);
    const [completedSignIn, current] = [await signIn(), await profile()];
    let queries = 0;
    const queryCounter: KyselyPlugin = {
      transformQuery({ node }) {
        queries += 1;
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    const { store } = postern.ports;
    Object.assign(store, { read: store.read.withPlugin(queryCounter) });
    const again = await checkSignIn(signInKinds(postern.ports), current, { profileId: visitor.profileId, signIn: completedSignIn });
    assert.equal(again?.subject, completedSignIn.identity.subject);
    assert.ok(queries <= 1, `${queries} queries`);
  });

  test(`a sign-in at one login profile is not valid at another one (${type})`, options, async (t) => {
    const { postern, visitor, kinds, signIn } = await start(t);
    const other = await create(postern, t);
    assert.notEqual(other.profileId, visitor.profileId);
    const at = { profileId: visitor.profileId, signIn: await signIn() };
    assert.equal(await checkSignIn(kinds, await readProfile(postern, other.profileId), at), null);
  });

  for (const ending of endings)
    test(`${ending} ends the sign-in at once (${type})`, options, async (t) => {
      const { visitor, signIn, subjectOf } = await start(t);
      const completedSignIn = await signIn();
      assert.equal(await subjectOf(completedSignIn), completedSignIn.identity.subject);
      await visitor.endings[ending]?.();
      assert.equal(await subjectOf(completedSignIn), null);
    });

  test(
    `a visitor can replace their password if and only if it is their own, and all sign-ins with the earlier password end (${type})`,
    options,
    async (t) => {
      const { postern, password, profile, visitor, signIn, assertWrong, subjectOf } = await start(t);
      const { replacePassword } = password;
      assert.equal(replacePassword !== undefined, hasOwnPassword);
      if (!replacePassword) return;
      const [completedSignIn, current] = [await signIn(), await profile()];
      const hash = await postern.ports.passwordHash.hash('another fine phrase', { tid: 1 });
      const replace = () => postern.ports.store.write((tx) => replacePassword(tx, current, completedSignIn, hash, 1), { tenant: 1 });
      const newSignIn = await replace();
      assert.ok(newSignIn);
      assert.deepEqual([await subjectOf(completedSignIn), await subjectOf(newSignIn)], [null, completedSignIn.identity.subject]);
      assert.equal(await replace(), null, 'the first sign-in can no longer replace the password');
      await assertWrong(visitor.credentials);
      assert.equal(
        (await signIn({ ...visitor.credentials, password: 'another fine phrase' })).identity.subject,
        completedSignIn.identity.subject,
      );
    },
  );

  test(`a visitor signs in at the page, and a program by Basic authentication (${type})`, options, async (t) => {
    const { postern, visitor, signIn } = await start(t);
    const { base } = await createShare(postern, { authenticationId: visitor.profileId });
    const answer = await postern.visit(`${base}/sign-in`, jsonPostRequest(visitor.credentials));
    assert.equal(answer.status, 200);
    const { identity } = await signIn();
    assert.deepEqual(answer.body.visitor, { name: identity.name, email: identity.email });
    const authorization = basicAuthorization(visitor.credentials.username, visitor.credentials.password);
    for (const headers of [{ cookie: cookieOf(answer) }, { authorization }])
      assert.equal((await sendPath(postern, `${base}/list`, { headers })).status, 200);
    const { identity: storedText } = await postern.ports.store.read
      .selectFrom('visit_session')
      .select('identity')
      .executeTakeFirstOrThrow();
    const { claimsAt, ...storedIdentity } = JSON.parse(storedText ?? '');
    assert.deepEqual(storedIdentity, identity);
    assert.ok(Math.abs(claimsAt - Date.now()) < 60_000);
  });
}
