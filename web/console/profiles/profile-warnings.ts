import { profileTypes } from '#core/records/login-profile.ts';
import { configurationOf, type ProfileValues, profileBodyOf } from './profile-values.ts';

/**
 * Fields whose change does not end all sessions of the profile. `configuration` is in the list because its members are compared one by
 * one. For changes of a configuration, a test compares examples with `changesSignIn` of the server.
 */
const fieldsThatEndNoSession: readonly string[] = [
  ...['title', 'description', 'startupMessage', 'lang', 'ipRange', 'allow', 'configuration'],
  ...['clientSecret', 'scopes', 'prompt', 'clientAuth'],
  ...['bindDn', 'bindPassword', 'ca', 'startTls', 'nameAttribute'],
  ...['entryPoint', 'certificates', 'idpInitiated'],
];

/** Returns the fields of the request body, and the members of the configuration. The form also has fields of other sign-in kinds. */
const sentFields = (values: ProfileValues): Readonly<Record<string, unknown>> => ({ ...profileBodyOf(values), ...configurationOf(values) });

/** Returns whether a change ends all sessions of the profile. */
function endsSessions(before: ProfileValues, after: ProfileValues): boolean {
  const [old, current] = [sentFields(before), sentFields(after)];
  const names = Object.keys({ ...old, ...current }).filter((name) => !fieldsThatEndNoSession.includes(name));
  return names.some((name) => old[name] !== current[name]);
}

/** Returns what a change means for visitors who use the profile, or an empty string. */
export function profileChangeWarning(before: ProfileValues, after: ProfileValues, excludesOperator: boolean): string {
  return [
    endsSessions(before, after) ? 'Everyone who is signed in with this profile will be signed out.' : '',
    before.allow.some((entry) => !after.allow.includes(entry))
      ? 'Visitors whose e-mail address is no longer allowed will be signed out.'
      : '',
    before.ipRange !== after.ipRange && after.ipRange.trim() !== '' ? 'Visitors from other IP addresses lose access at once.' : '',
    excludesOperator ? 'The allowed IP addresses do not include your own.' : '',
  ]
    .filter(Boolean)
    .join(' ');
}

/** Returns what the operator must confirm before a change is saved, or an empty string. */
export function profileChangeConfirmation(before: ProfileValues, after: ProfileValues, shares: number, excludesOperator: boolean): string {
  if (after.typeId === profileTypes.PUBLIC && before.typeId !== profileTypes.PUBLIC && shares > 0)
    return `Anyone with a link will be able to open the active shares of this profile without signing in; shares that list users or groups will admit nobody. The profile has ${shares === 1 ? '1 share' : `${shares} shares`}.`;
  return excludesOperator && before.ipRange !== after.ipRange
    ? 'The allowed IP addresses do not include your own. You will not be able to open the links of this profile from here.'
    : '';
}
