import { escapeHtml } from '#core/escape-html.ts';

/** Postern as a service provider. Each login profile is a separate one, so that a response for one profile is invalid for the others. */
export interface ServiceProvider {
  /** Also the address of the metadata. */
  readonly entityId: string;
  /** Address to which browsers bring the responses of the provider (assertion consumer service). */
  readonly acsUrl: string;
}

const [assertion, protocol, metadata] = [
  'urn:oasis:names:tc:SAML:2.0:assertion',
  'urn:oasis:names:tc:SAML:2.0:protocol',
  'urn:oasis:names:tc:SAML:2.0:metadata',
];
const postBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST';

/** Returns the service provider of the login profile with this assertion consumer service. */
export const serviceProvider = (acsUrl: string): ServiceProvider => ({ entityId: `${acsUrl}/metadata`, acsUrl });

/**
 * Returns a request for a sign-in (SAML Core, 3.4.1). The request demands no format of the NameID and no authentication method: the
 * provider knows which ones its users have.
 * @param now ms since the epoch
 */
export const authnRequest = ({ entityId, acsUrl }: ServiceProvider, destination: string, id: string, now: number): string =>
  `<samlp:AuthnRequest xmlns:samlp="${protocol}" ID="${id}" Version="2.0" IssueInstant="${new Date(now).toISOString()}" ` +
  `Destination="${escapeHtml(destination)}" ProtocolBinding="${postBinding}" AssertionConsumerServiceURL="${escapeHtml(acsUrl)}">` +
  `<saml:Issuer xmlns:saml="${assertion}">${escapeHtml(entityId)}</saml:Issuer>` +
  `<samlp:NameIDPolicy AllowCreate="true"/></samlp:AuthnRequest>`;

/** Returns the metadata that an operator gives to the provider (SAML Metadata, 2.4.4). */
export const serviceProviderMetadata = ({ entityId, acsUrl }: ServiceProvider): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n` +
  `<EntityDescriptor xmlns="${metadata}" entityID="${escapeHtml(entityId)}">\n` +
  `  <SPSSODescriptor AuthnRequestsSigned="false" WantAssertionsSigned="true" protocolSupportEnumeration="${protocol}">\n` +
  `    <AssertionConsumerService index="0" isDefault="true" Binding="${postBinding}" Location="${escapeHtml(acsUrl)}"/>\n` +
  `  </SPSSODescriptor>\n</EntityDescriptor>\n`;
