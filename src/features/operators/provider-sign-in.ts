import { parseOperatorRole } from '#core/authorization/role.ts';
import { fold } from '#core/fold.ts';
import { hostOf } from '#core/host-of.ts';
import { Refusal } from '#core/messages.ts';
import { identityOfClaims, needsUserinfo } from '#core/openid/identity-of-claims.ts';
import { type OperatorProvider, roleOfGroups } from '#core/openid/operator-role.ts';
import { firstTenant } from '#core/records/tenant.ts';
import { appendAuditEntry, appendChangeEntry } from '#features/audit/audit-entry.ts';
import type { Caller } from '#features/operation.ts';
import { openPending, sealPending } from '#features/provider-sign-ins/pending-sign-in.ts';
import { providerErrorAsRefusal, providerRefusal, throwAsRefusal } from '#features/provider-sign-ins/provider-refusal.ts';
import { attemptTurn, networkKeys, verifyAttempt } from '#features/rate-limits/failed-attempts.ts';
import { sha256 } from '#features/records/sha256.ts';
import type { OpenIdClient, PendingOpenId } from '#ports/openid.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import { auditProviderRefusal } from './audit-provider-refusal.ts';
import { checkAdminRemains, insertOperator } from './operator-rows.ts';
import { type Origin, roleOfSession, sessionBits, startOperatorSession } from './operator-session.ts';
import { verifyOperatorPassword } from './second-factor-rows.ts';
import type { OperatorSignInResult } from './sign-in-operator.ts';

const purpose = 'sign-in of an operator at a provider';

/** The operator to whom a user will be connected. */
interface OperatorToLink {
  readonly id: number;
  /** Hash of the operator's session. After the session has ended, for example by a sign-out, the connection must be started again. */
  readonly session: string;
}

/** State of a started sign-in, stored encrypted in a cookie until the browser returns. */
interface PendingSignIn {
  readonly redirectUrl: string;
  readonly pending: PendingOpenId;
  /** null: this is a sign-in, and not a connection of a user to an operator. */
  readonly linkTo: OperatorToLink | null;
}

/** Returns the provider at which operators sign in. @throws Refusal (404) if there is none */
function providerOf({ operatorProvider }: Pick<Ports, 'operatorProvider'>): OperatorProvider & { readonly client: OpenIdClient } {
  if (!operatorProvider) throw new Refusal('notFound');
  return { ...operatorProvider, client: { ...operatorProvider.client, tid: firstTenant } };
}

/** Returns the host of the provider at which operators can sign in, or null. */
export const operatorProviderHost = ({ operatorProvider }: Pick<Ports, 'operatorProvider'>): string | null =>
  operatorProvider && hostOf(new URL(operatorProvider.client.issuer).hostname);

/**
 * Begins a sign-in at the provider. Stores nothing.
 * @param linkTo the operator to whom the user will be connected; null: the user signs in
 * @returns the address to which the browser is sent, and the value of its cookie
 * @throws Refusal (401, 404, 503)
 */
export async function beginOperatorSignIn(
  ports: Pick<Ports, 'operatorProvider' | 'openId' | 'vault' | 'clock'>,
  redirectUrl: string,
  linkTo: OperatorToLink | null,
): Promise<{ readonly url: string; readonly sealed: string }> {
  const { client } = providerOf(ports);
  const { scopes = 'openid' } = client;
  const { url, pending } = await ports.openId.begin(client, { redirectUrl, scopes }).catch(throwAsRefusal);
  const signIn: PendingSignIn = { redirectUrl, pending, linkTo };
  return { url, sealed: sealPending(ports, purpose, signIn) };
}

/**
 * Verifies the caller's password, and returns the operator to whom a user will be connected. Without the password, a person who finds an
 * open console could add another way to sign in.
 * @throws Refusal (403, 404, 429, 503)
 */
export async function operatorToLink(ports: Ports, caller: Caller, currentPassword: string): Promise<OperatorToLink> {
  providerOf(ports);
  if (caller.kind !== 'operator' || caller.tid !== firstTenant)
    throw new Refusal('roleTooLow', 'Only operators of tenant 1 can sign in at the provider.');
  const { id } = await verifyOperatorPassword(ports, caller, currentPassword);
  return { id, session: caller.credentialHash };
}

/** Returns the sign-in that the browser has begun. @throws Refusal (400) */
function pendingOf(ports: Pick<Ports, 'vault' | 'clock'>, sealed: string | null, state: string): PendingSignIn {
  const signIn = sealed === null ? null : openPending<PendingSignIn>(ports, purpose, sealed);
  if (signIn?.pending.state === state) return signIn;
  throw new Refusal('requestMalformed', 'This sign-in was started in another browser, or has expired. Start again.');
}

interface ProviderUser {
  readonly subject: string;
  /** Names for a new operator, the best one first. */
  readonly names: readonly string[];
  readonly role: ReturnType<typeof roleOfGroups>;
}

async function userOf(ports: Ports, { redirectUrl, pending }: PendingSignIn, parameters: URLSearchParams): Promise<ProviderUser> {
  const provider = providerOf(ports);
  const { client } = provider;
  const returnUrl = new URL(redirectUrl);
  returnUrl.search = parameters.toString();
  const needs = { needsUserinfo: (claims: Readonly<Record<string, unknown>>) => needsUserinfo(claims, client) };
  const { idToken, userinfo } = await ports.openId.finish(client, returnUrl, pending, needs);
  const claims = idToken ?? {};
  const { subject, name, email, groups } = identityOfClaims(claims, [claims, userinfo], client);
  const host = hostOf(new URL(client.issuer).hostname);
  return { subject, names: [email || name, `${email || name} (${host})`], role: roleOfGroups(provider, groups) };
}

const noGroup = () =>
  providerRefusal(
    'The user is in no group that POSTERN_OPERATOR_OIDC_ADMINS, POSTERN_OPERATOR_OIDC_EDITORS or POSTERN_OPERATOR_OIDC_READERS lists.',
  );

const findLinkedOperator = (tx: Tx, subject: string) =>
  tx.selectFrom('operator').selectAll().where('tid', '=', firstTenant).where('provider_subject', '=', subject).executeTakeFirst();

/**
 * Returns the operator of a user. If there is none, creates one. The user's groups set the role of an operator that was created
 * in this way, and of no other.
 * @throws Refusal (401, 409)
 */
async function operatorOf(tx: Tx, { subject, names, role }: ProviderUser, now: number) {
  const linkedOperator = await findLinkedOperator(tx, subject);
  if (!linkedOperator) {
    if (role === null) throw noGroup();
    const takenNames = await tx
      .selectFrom('operator')
      .select('name_key')
      .where('tid', '=', firstTenant)
      .where('name_key', 'in', names.map(fold))
      .execute();
    const name = names.find((candidate) => takenNames.every(({ name_key }) => name_key !== fold(candidate))) ?? subject;
    const id = await insertOperator(tx, { tid: firstTenant, name, role, passwordHash: '', owner: name, providerSubject: subject }, now);
    return { id, name, role, epoch: 1, isNew: true };
  }
  const { id, name, session_epoch: epoch, is_managed: isManaged } = linkedOperator;
  const before = parseOperatorRole(linkedOperator.role);
  if (isManaged === 0) return { id, name, role: before, epoch, isNew: false };
  if (role === null) throw noGroup();
  if (before === 'admin' && role !== 'admin') await checkAdminRemains(tx, firstTenant, id);
  if (role !== before)
    await tx
      .updateTable('operator')
      .set((row) => ({ role, version: row('version', '+', 1), updated_at: now }))
      .where('id', '=', id)
      .execute();
  return { id, name, role, epoch, isNew: false };
}

/**
 * Connects a user to an operator.
 * @throws Refusal (401) if the operator's session has ended; (409) if another operator is connected to the user
 */
async function linkOperator(
  tx: Tx,
  { id: operatorId, session }: OperatorToLink,
  { subject }: ProviderUser,
  { address, requestId }: Origin,
  now: number,
): Promise<void> {
  if ((await roleOfSession(tx, session, now)) === null) throw new Refusal('signInNeeded');
  const other = await findLinkedOperator(tx, subject);
  if (other && other.id !== operatorId) throw new Refusal('nameTaken', 'Another operator is connected to this user of the provider.');
  const operator = await tx
    .updateTable('operator')
    .set((row) => ({ provider_subject: subject, version: row('version', '+', 1), updated_at: now }))
    .where('tid', '=', firstTenant)
    .where('id', '=', operatorId)
    .returning('name')
    .executeTakeFirstOrThrow();
  await appendAuditEntry(tx, {
    ...{ tid: firstTenant, at: now, actor: operator.name, actorKind: 'operator', address, requestId },
    ...{ action: 'operator/linkProvider', outcome: 'done', share: null, path: '', bytes: null, before: null, process: null },
    after: { id: operatorId, subject },
  });
}

/**
 * Returns the user of the provider. Returns a refusal if the provider refuses the user, or if a user who signs in gets no role. A refusal
 * that is returned counts as a failed attempt.
 */
async function verifyUser(ports: Ports, signIn: PendingSignIn, parameters: URLSearchParams): Promise<ProviderUser | Refusal> {
  try {
    const user = await userOf(ports, signIn, parameters);
    if (user.role !== null || signIn.linkTo !== null) return user;
    return (await findLinkedOperator(ports.store.read, user.subject))?.is_managed === 0 ? user : noGroup();
  } catch (cause) {
    const refusal = providerErrorAsRefusal(cause);
    if (refusal instanceof Refusal && refusal.messageName === 'providerRefused') return refusal;
    throw refusal;
  }
}

/**
 * Completes a sign-in when the browser returns from the provider.
 * @param sealed the cookie of the sign-in, or null
 * @param parameters the query of the browser
 * @returns the session; null: the user was connected to the operator who had started the connection
 * @throws Refusal (400) if the browser has not begun this sign-in, or it has expired; (401, 404, 409, 503); 429 after many refused sign-ins
 */
export async function completeOperatorSignIn(
  ports: Ports,
  sealed: string | null,
  parameters: URLSearchParams,
  origin: Origin,
): Promise<OperatorSignInResult | null> {
  const { store, clock, random } = ports;
  const signIn = pendingOf(ports, sealed, parameters.get('state') ?? '');
  const networks = networkKeys('operator', origin.address);
  try {
    const user = await verifyAttempt(ports, null, networks, () => verifyUser(ports, signIn, parameters));
    const token = random.token(sessionBits);
    return await store.write(async (tx) => {
      const now = clock.now();
      if (signIn.linkTo !== null) {
        await linkOperator(tx, signIn.linkTo, user, origin, now);
        return null;
      }
      const { id, name, role, epoch, isNew } = await operatorOf(tx, user, now);
      await startOperatorSession(tx, token, { id, epoch, byProvider: true }, now);
      const session = { byProvider: true, lacksSecondFactor: false, credentialHash: sha256(token) };
      const caller: Caller = { id, tid: firstTenant, name, role, kind: 'operator', ...session, ...origin };
      await appendChangeEntry(tx, caller, 'operator/signIn', { after: { provider: true, role, ...(isNew ? { added: true } : {}) } }, now);
      return { caller, token };
    }, attemptTurn(networks));
  } catch (cause) {
    if (cause instanceof Refusal && cause.messageName === 'providerRefused')
      await auditProviderRefusal(ports, origin, signIn.linkTo?.id ?? null, cause);
    throw cause;
  }
}
