import { formatList } from '#core/list-text.ts';
import { fieldRefusal } from '#core/messages.ts';
import type { TestedStep } from '#core/records/test-result.ts';
import { type Directories, DirectoryRefused, DirectoryUnavailable, type DirectoryUser, type TenantDirectory } from '#ports/directory.ts';
import { step } from './test-step.ts';

/** A user name that should not exist: a search for it tests only the account of the configuration. */
const nobody = 'postern-tests-this-directory';

interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** Returns a text with the DN of a user, and the names and groups by which shares can list the user. */
const describeUser = ({ dn, username, email, groups }: DirectoryUser): string =>
  [
    `Found ${dn}.`,
    `Names under which shares can list the user (userNames): ${formatList([username, email].filter((name) => name !== '')) || 'none'}.`,
    `Groups (groupNames): ${formatList(groups) || 'none'}.`,
  ].join(' ');

async function tryAccount(
  directories: Directories,
  directory: TenantDirectory,
  { username, password }: Credentials,
): Promise<TestedStep[]> {
  const user = await directories.find(directory, username || nobody);
  const accountStep = step('account', null, 'The directory accepts the account.');
  if (username === '') return [accountStep];
  if (!user) return [accountStep, step('user', 'The search found no entry, more than one entry, or a disabled account.')];
  const userStep = step('user', null, describeUser(user));
  if (password === '') return [accountStep, userStep];
  const isRight = await directories.verify(directory, user.dn, password);
  return [accountStep, userStep, step('password', isRight ? null : 'The directory refuses the password.')];
}

async function tryPattern(
  directories: Directories,
  directory: TenantDirectory,
  { username, password }: Credentials,
): Promise<TestedStep[]> {
  if (username === '') throw fieldRefusal('username', 'is required for a profile with a bindPattern');
  if (password === '') throw fieldRefusal('password', 'is required for a profile with a bindPattern');
  const user = await directories.signInByPattern(directory, username, password);
  return user
    ? [step('password', null), step('user', null, describeUser(user))]
    : [step('password', 'The directory refuses the user name or the password.')];
}

/**
 * Tries a directory: the connection, the account of the configuration, and the user and the password if they are given. With a bindPattern
 * there is no such account: the user signs in.
 * @throws Refusal (400) if the name or the password is missing for a bindPattern
 */
export async function tryDirectory(directories: Directories, directory: TenantDirectory, credentials: Credentials): Promise<TestedStep[]> {
  const attempt = directory.bindPattern === undefined ? tryAccount : tryPattern;
  try {
    return [step('connection', null), ...(await attempt(directories, directory, credentials))];
  } catch (cause) {
    if (cause instanceof DirectoryUnavailable) return [step('connection', cause.message)];
    if (cause instanceof DirectoryRefused) return [step('connection', null), step('account', cause.message)];
    throw cause;
  }
}
