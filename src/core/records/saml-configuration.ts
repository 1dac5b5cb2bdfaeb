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
          'Entity ID of the provider. Required if neither metadataUrl nor metadata is given. Otherwise, it is optional and selects one of several providers: metadata that does not contain this entity ID is refused.',
      }),
    ),
    entryPoint: Type.Optional(
      url('Address of the provider to which browsers are sent. Required if neither metadataUrl nor metadata is given, otherwise refused.'),
    ),
    certificates: Type.Optional(
      Type.Array(text('Certificate in PEM.'), {
        minItems: 1,
        maxItems: 10,
        description: 'Signing certificates of the provider. Required if neither metadataUrl nor metadata is given, otherwise refused.',
      }),
    ),
    usernameAttribute: attribute('Attribute with a name by which shares list a user. Choose one that users cannot change themselves.'),
    emailAttribute: attribute('Attribute with the e-mail address. Default: the NameID, if its format is emailAddress.'),
    emailTrust: Type.Optional(
      Type.Enum(['verified', 'provider'], {
        description:
          'provider: shares can list visitors by the value of emailAttribute, too. verified (default): emailAttribute is ignored, because SAML does not say whether an address is verified. In both cases, shares can list visitors by the NameID, even if it is an e-mail address.',
      }),
    ),
    nameAttribute: attribute(
      'Attribute with the display name. Default: displayName, or the attribute that Microsoft Entra ID or LDAP schemas use for it; if none is sent, the NameID.',
    ),
    groupsAttribute: attribute('Attribute that lists the groups of a user.'),
    requireGroup: Type.Optional(text('Group that a user must be in to sign in.')),
    idpInitiated: Type.Optional(
      Type.Boolean({
        description: 'true: visitors may start the sign-in at the provider. They then arrive at the portal. Default: false.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type SamlConfiguration = Static<typeof samlConfiguration>;
