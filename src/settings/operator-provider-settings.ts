import { parseList } from '#core/list-text.ts';
import { issuerProblem } from '#core/openid/issuer.ts';
import type { OperatorProvider } from '#core/openid/operator-role.ts';
import { type Setting, setting } from './setting.ts';
import { fail, parseOptional, text } from './setting-values.ts';

const parseIssuer = (value: string) => {
  const problem = issuerProblem(value);
  return problem === null ? value : fail(problem);
};
const parseGroups = (value: string) => parseList(value) ?? fail('must be a list of groups, separated by commas');

export const operatorProviderDefinitions = {
  operatorIssuer: setting(
    'POSTERN_OPERATOR_OIDC_ISSUER',
    '',
    'OpenID provider at which operators of tenant 1 can sign in to the console (see console.md).',
    parseOptional(parseIssuer),
  ),
  operatorClientId: setting('POSTERN_OPERATOR_OIDC_CLIENT_ID', '', 'Client ID of Postern at this provider.', text),
  operatorClientSecret: setting('POSTERN_OPERATOR_OIDC_CLIENT_SECRET', '', 'Client secret of Postern at this provider.', text),
  operatorScopes: setting('POSTERN_OPERATOR_OIDC_SCOPES', 'openid email profile', 'Scopes that Postern requests from this provider.', text),
  operatorGroupsClaim: setting(
    'POSTERN_OPERATOR_OIDC_GROUPS_CLAIM',
    'groups',
    'Claim with the groups of an operator, or the path to it.',
    text,
  ),
  operatorAdmins: setting('POSTERN_OPERATOR_OIDC_ADMINS', '', 'Groups whose members sign in as admins, separated by commas.', parseGroups),
  operatorEditors: setting(
    'POSTERN_OPERATOR_OIDC_EDITORS',
    '',
    'Groups whose members sign in as editors, separated by commas.',
    parseGroups,
  ),
  operatorReaders: setting(
    'POSTERN_OPERATOR_OIDC_READERS',
    '',
    'Groups whose members sign in as readers, separated by commas.',
    parseGroups,
  ),
};

/** Returns the provider at which operators of tenant 1 can sign in, or null if the settings name none. */
export function readOperatorProvider(readValue: <T>(setting: Setting<T>) => T): OperatorProvider | null {
  const issuer = readValue(operatorProviderDefinitions.operatorIssuer);
  const clientSecret = readValue(operatorProviderDefinitions.operatorClientSecret);
  if (issuer === null) return null;
  return {
    client: {
      ...{ issuer, clientId: readValue(operatorProviderDefinitions.operatorClientId) },
      ...(clientSecret === '' ? { clientAuth: 'none' } : { clientSecret }),
      ...{
        scopes: readValue(operatorProviderDefinitions.operatorScopes),
        groupsClaim: readValue(operatorProviderDefinitions.operatorGroupsClaim),
      },
    },
    groups: {
      admin: readValue(operatorProviderDefinitions.operatorAdmins),
      editor: readValue(operatorProviderDefinitions.operatorEditors),
      reader: readValue(operatorProviderDefinitions.operatorReaders),
    },
  };
}
