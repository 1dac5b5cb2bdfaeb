import Type from 'typebox';
import { fold } from '#core/fold.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { recordId } from '#core/records/field.ts';
import { profileTypeName, profileTypes } from '#core/records/login-profile.ts';
import type { OidcConfiguration } from '#core/records/profile-configuration.ts';
import { type TestedStep, testResult } from '#core/records/test-result.ts';
import { type Caller, readOperation } from '#features/operation.ts';
import { attemptTurn, countAttempt, removeLatestFailures } from '#features/rate-limits/failed-attempts.ts';
import type { Ports } from '#ports/ports.ts';
import type { LoginProfileInput } from './insert-login-profile.ts';
import { loginProfileRecords } from './login-profile-rows.ts';
import { step } from './test-step.ts';
import { tryDirectory } from './try-directory.ts';
import { trySamlProvider } from './try-saml-provider.ts';
import { readLoginProfileInput } from './update-login-profile.ts';

/** What a request tries: a profile, and optionally the credentials of a visitor. */
interface Trial {
  readonly id: number;
  readonly profile: LoginProfileInput;
  readonly username: string;
  readonly password: string;
  readonly caller: Caller;
}

async function tryPassword({ profile, username, password }: Trial): Promise<TestedStep[]> {
  if (profile.username !== '' && fold(profile.username) !== fold(username)) return [step('user', 'The profile has a different user name.')];
  return [step('password', profile.password === password ? null : 'The profile has a different password.')];
}

async function tryUser({ id, username, password, caller }: Trial, { store, passwordHash }: Ports): Promise<TestedStep[]> {
  const user = await store.read
    .selectFrom('access_user')
    .select(['active', 'password_hash'])
    .where('tid', '=', caller.tid)
    .where('profile_id', '=', id)
    .where('username_key', '=', fold(username))
    .executeTakeFirst();
  if (!user) return [step('user', 'The profile has no access user with this name.')];
  if (user.active === 0) return [step('user', 'The access user is inactive.')];
  const isRight = await passwordHash.runInTurn(caller.address, (verify) => verify(user.password_hash, password));
  return [step('user', null, 'The access user is active.'), step('password', isRight ? null : 'The password is wrong.')];
}

const tryMail = ({ mail }: Ports): TestedStep =>
  step(
    'mail',
    mail ? null : 'No mail server is configured: set POSTERN_SMTP_URL and POSTERN_MAIL_FROM.',
    'A mail server is configured. mail/test sends a test mail.',
  );

async function tryProvider({ id, profile, caller }: Trial, { openId, links }: Ports): Promise<readonly TestedStep[]> {
  const configuration: OidcConfiguration = JSON.parse(profile.configuration);
  return openId.test({ ...configuration, tid: caller.tid }, `${links.publicUrl()}/sign-in/oidc/${id}`);
}

/** Runs the steps for the type of a profile. @throws Refusal (400) if a value is missing */
async function runSteps(trial: Trial, ports: Ports): Promise<readonly TestedStep[]> {
  const { profile, username, password } = trial;
  const asksUsername = profile.type_id === profileTypes.USERS || (profile.type_id === profileTypes.PASSWORD && profile.username !== '');
  const asksPassword = profile.type_id === profileTypes.USERS || profile.type_id === profileTypes.PASSWORD;
  if (asksUsername && username === '') throw fieldRefusal('username', 'is required for this type of profile');
  if (asksPassword && password === '') throw fieldRefusal('password', 'is required for this type of profile');
  switch (profileTypeName(profile.type_id)) {
    case 'PUBLIC':
      return [];
    case 'PASSWORD':
      return tryPassword(trial);
    case 'USERS':
      return tryUser(trial, ports);
    case 'EMAIL_CODE':
      return [tryMail(ports)];
    case 'OIDC':
      return tryProvider(trial, ports);
    case 'LDAP':
      return tryDirectory(ports.directories, { ...JSON.parse(profile.configuration), tid: trial.caller.tid }, { username, password });
    case 'SAML':
      return trySamlProvider(ports.saml, JSON.parse(profile.configuration), trial.caller.tid);
  }
}

/**
 * Runs the steps. Nobody can use tests to guess passwords: tests with a wrong password are limited for each user name of a profile, for all
 * callers together. Counts a failure before the steps run, and removes it if they found no wrong password.
 * @throws Refusal (429) during the delay after failures; (400) if a value is missing
 */
async function runLimited(ports: Ports, trial: Trial): Promise<readonly TestedStep[]> {
  if (trial.password === '') return runSteps(trial, ports);
  const keys = [{ scope: 'pair', key: `test ${trial.id} ${fold(trial.username)}` }] as const;
  await countAttempt(ports, keys);
  let isWrong = false;
  try {
    const steps = await runSteps(trial, ports);
    isWrong = steps.some(({ step: name, passed }) => name === 'password' && !passed);
    return steps;
  } finally {
    if (!isWrong) await ports.store.write((tx) => removeLatestFailures(tx, keys), attemptTurn(keys));
  }
}

export const testLoginProfile = readOperation({
  name: 'loginprofile/test',
  isTest: true,
  method: 'POST',
  role: 'admin',
  summary: 'Tests a login profile step by step, without signing anybody in.',
  body: Type.Object(
    {
      id: recordId('Login profile.'),
      username: Type.Optional(Type.String({ maxLength: 255, description: 'User name to try, for types PASSWORD, USERS and LDAP.' })),
      password: Type.Optional(Type.String({ maxLength: 256, description: 'Password to try, for types PASSWORD, USERS and LDAP.' })),
    },
    { additionalProperties: false },
  ),
  response: testResult('mail, connection, account, user, password, metadata, keys, certificates, client'),
  async read({ id, username = '', password = '' }, caller, ports) {
    const [record] = await loginProfileRecords(ports.store.read, caller.tid, [id], ports);
    if (!record) throw new Refusal('recordUnknown');
    const profile = await readLoginProfileInput(ports.store.read, caller.tid, id, ports.vault);
    const steps = await runLimited(ports, { id, profile, username, password, caller });
    return { works: steps.every(({ passed }) => passed), steps: [...steps] };
  },
});
