import { groupsProblem } from '#core/group-limits.ts';
import { statedEmail } from '#core/mail/email.ts';
import type { SamlConfiguration } from '#core/records/saml-configuration.ts';
import { requiredGroupProblem } from '#core/required-group.ts';

/** What a provider states about a user in a signed assertion. */
export interface StatedUser {
  /** Entity ID of the provider. */
  readonly issuer: string;
  readonly nameId: string;
  /** Format of the NameID; empty: not stated. */
  readonly nameIdFormat: string;
  /** The values of each attribute, by its name. */
  readonly attributes: Readonly<Record<string, readonly string[]>>;
}

/** The identity of a visitor, from the statement of a provider. */
export interface StatedIdentity {
  readonly subject: string;
  readonly name: string;
  /** Address that shares may list; empty: none. */
  readonly email: string;
  readonly names: readonly string[];
  readonly groups: readonly string[];
}

/** The statement about a user is refused. The message is for the operator. */
export class StatementRefused extends Error {}

const transient = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';
const emailFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
/** Name of the attribute that Microsoft Entra ID sends in place of the groups of a user who has more than 150. */
const groupsLink = 'http://schemas.microsoft.com/claims/groups.link';
const displayNameAttributes = [
  'displayName',
  'http://schemas.microsoft.com/identity/claims/displayname',
  'urn:oid:2.16.840.1.113730.3.1.241',
];
const maxText = 255; // characters: a longer text is ignored, since a part of it could be the name of somebody else

const valuesOf = ({ attributes }: StatedUser, name: string): readonly string[] =>
  Object.hasOwn(attributes, name) ? (attributes[name] ?? []).filter((value) => value !== '' && value.length <= maxText) : [];

/** Returns the value of an attribute, or an empty string if it has none or several. */
function singleValueOf(user: StatedUser, name: string | undefined): string {
  const values = name === undefined ? [] : valuesOf(user, name);
  return values.length === 1 ? (values[0] ?? '') : '';
}

function groupsOf(user: StatedUser, groupsAttribute: string | undefined): readonly string[] {
  if (groupsAttribute === undefined) return [];
  if (Object.hasOwn(user.attributes, groupsLink) && !Object.hasOwn(user.attributes, groupsAttribute))
    throw new StatementRefused(
      'The provider did not send the groups, because the user has too many. Let it send only the groups that are assigned to the application.',
    );
  const groups = valuesOf(user, groupsAttribute);
  const problem = groupsProblem(groups);
  if (problem !== null) throw new StatementRefused(problem);
  return groups;
}

function emailOf(user: StatedUser, { emailAttribute, emailTrust }: SamlConfiguration): string {
  if (emailTrust !== 'provider') return '';
  const ofNameId = user.nameIdFormat === emailFormat ? user.nameId : '';
  const email = emailAttribute === undefined ? ofNameId : singleValueOf(user, emailAttribute);
  return statedEmail(email);
}

/** Returns the name that identifies a user at each sign-in. @throws StatementRefused if there is none */
function stableName({ nameId, nameIdFormat }: StatedUser, username: string, { usernameAttribute }: SamlConfiguration): string {
  if (nameIdFormat !== transient) return nameId;
  if (username === '')
    throw new StatementRefused(
      usernameAttribute === undefined
        ? 'The NameID is different at each sign-in (format transient). Set usernameAttribute, or let the provider send another format.'
        : 'The NameID is different at each sign-in (format transient), and the provider has not sent exactly one value of usernameAttribute.',
    );
  return username;
}

/** Returns the identity that the statement of a provider describes. @throws StatementRefused */
export function identityOfStatement(user: StatedUser, configuration: SamlConfiguration): StatedIdentity {
  const { usernameAttribute, nameAttribute, groupsAttribute, requireGroup } = configuration;
  const username = singleValueOf(user, usernameAttribute);
  const stable = stableName(user, username, configuration);
  const groups = groupsOf(user, groupsAttribute);
  const groupProblem = requiredGroupProblem(groups, requireGroup);
  if (groupProblem !== null) throw new StatementRefused(groupProblem);
  const email = emailOf(user, configuration);
  const displayNames = (nameAttribute === undefined ? displayNameAttributes : [nameAttribute]).map((name) => singleValueOf(user, name));
  return {
    subject: `${user.issuer} ${stable}`,
    name: displayNames.find((name) => name !== '') ?? stable,
    email,
    names: [...new Set([stable, username, email].filter((name) => name !== ''))],
    groups,
  };
}
