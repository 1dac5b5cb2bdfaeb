import Type, { type Static } from 'typebox';
import { limits } from './field.ts';
import { patternText } from './patterned.ts';

const text = (description: string) => Type.String({ minLength: 1, maxLength: 4000, description });
const url = (description: string) => patternText('^https?://[^\\s/]+', { maxLength: 4000, description });
const attribute = (description: string) => Type.Optional(text(description));

/** Schema of the configuration of a SAML profile. */
export const samlConfiguration = Type.Object(
  {
    metadataUrl: Type.Optional(url("Address of the provider's metadata: https, or http on this machine.")),
    metadata: Type.Optional(
      Type.String({ minLength: 1, maxLength: limits.configuration, description: "The provider's metadata (XML). Instead of metadataUrl." }),
    ),
    entityId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description:
          'Entity ID of the provider. Required without metadata. With metadata, it is optional and selects one of several providers: metadata that does not contain this entity ID is refused.',
      }),
    ),
    entryPoint: Type.Optional(url('Address of the provider to which browsers are sent. Required without metadata, and refused with it.')),
    certificates: Type.Optional(
      Type.Array(text('Certificate in PEM.'), {
        minItems: 1,
        maxItems: 10,
        description: 'Signing certificates of the provider. Required without metadata, and refused with it.',
      }),
    ),
    usernameAttribute: attribute('Attribute by whose value shares can list a user. Choose one that users cannot change themselves.'),
    emailAttribute: attribute('Attribute with the e-mail address. Default: the NameID, if its format is emailAddress.'),
    emailTrust: Type.Optional(
      Type.Enum(['verified', 'provider'], {
        description:
          'provider: shares list visitors by e-mail address, too. verified (default): they do not, because SAML does not say whether an address is verified.',
      }),
    ),
    nameAttribute: attribute(
      'Attribute with the display name. Default: displayName, or its names in Microsoft Entra ID and in LDAP schemas; if none is sent, the NameID.',
    ),
    groupsAttribute: attribute('Attribute that lists the groups of a user.'),
    requireGroup: Type.Optional(text('Group that a user must be in to sign in.')),
    idpInitiated: Type.Optional(
      Type.Boolean({ description: 'Sign-in may start at the provider; it then ends at the portal. Default: false.' }),
    ),
  },
  { additionalProperties: false },
);
export type SamlConfiguration = Static<typeof samlConfiguration>;
