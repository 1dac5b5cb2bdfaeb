import { X509Certificate } from 'node:crypto';
import type { ProviderDescription } from '#ports/saml.ts';
import { namespaces } from './saml-names.ts';
import {
  attributeOf,
  childElementsOf,
  demand,
  elementText,
  elementTime,
  parseXml,
  refuse,
  type StrictElement,
  withDescendants,
} from './strict-xml.ts';

export interface MetadataInput {
  readonly xml: string;
  /** Entity ID of the provider; null: the only one in the metadata. */
  readonly entityId: string | null;
  /** ms since the epoch. */
  readonly now: number;
}

const metadataLimits = { elements: 20_000, attributes: 40_000, namespaces: 2000 };
const maxDescription = 1 << 17; // characters, enough for about 60 certificates: descriptions are cached
const redirectBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';

const rolesOf = (entity: StrictElement) => childElementsOf(entity, namespaces.metadata, 'IDPSSODescriptor');

/** Returns the identity provider that the metadata describes. @throws XmlRefused */
function providerOf(root: StrictElement, entityId: string | null): StrictElement {
  const entities = withDescendants(root).filter(({ namespace, name }) => namespace === namespaces.metadata && name === 'EntityDescriptor');
  const providers = entities.filter((entity) => rolesOf(entity).length > 0);
  const candidates = entityId === null ? providers : providers.filter((entity) => attributeOf(entity, 'entityID') === entityId);
  const [provider, ...others] = candidates;
  if (!provider)
    return refuse(entityId === null ? 'The metadata describes no identity provider.' : `The metadata has no provider ${entityId}.`);
  if (others.length === 0) return provider;
  return refuse(
    entityId === null
      ? 'The metadata describes several providers. Enter the entity ID of yours.'
      : `The metadata describes the provider ${entityId} more than once.`,
  );
}

/** Returns a certificate in PEM. @throws XmlRefused */
function certificateOf(base64: string): string {
  try {
    return new X509Certificate(Buffer.from(base64, 'base64')).toString();
  } catch {
    return refuse('A certificate in the metadata cannot be read.');
  }
}

/** Returns the signing certificates of a role. A key without a `use` is also for signing (SAML Metadata, 2.4.1.1). */
const certificatesOf = (role: StrictElement): string[] =>
  childElementsOf(role, namespaces.metadata, 'KeyDescriptor')
    .filter((key) => [null, 'signing'].includes(attributeOf(key, 'use')))
    .flatMap(withDescendants)
    .filter(({ namespace, name }) => namespace === namespaces.signature && name === 'X509Certificate')
    .map((element) => certificateOf(elementText(element)));

/** Removes all comments, in linear time. @throws XmlRefused for a comment without an end */
function withoutComments(xml: string): string {
  let text = '';
  for (let position = 0; ; ) {
    const start = xml.indexOf('<!--', position);
    if (start < 0) return text + xml.slice(position);
    const end = xml.indexOf('-->', start + 4);
    demand(end >= 0, 'The metadata has a comment without an end.');
    text += xml.slice(position, start);
    position = end + 3;
  }
}

/**
 * Reads the metadata of a provider (SAML Metadata, 2.4.3). The signature of the metadata is not verified: the metadata comes over TLS or
 * from this machine, or an operator has entered it.
 * @throws XmlRefused
 */
export function readMetadata({ xml, entityId, now }: MetadataInput): ProviderDescription {
  const root = parseXml(withoutComments(xml.replace(/^\uFEFF/, '')), metadataLimits);
  const provider = providerOf(root, entityId);
  const [role, ...otherRoles] = rolesOf(provider);
  if (!role || otherRoles.length > 0) return refuse('The metadata describes the provider more than once.');
  for (const element of [root, provider, role]) {
    const validUntil = elementTime(element, 'validUntil');
    demand(validUntil === null || now < validUntil, 'The metadata has expired.');
  }
  const service = childElementsOf(role, namespaces.metadata, 'SingleSignOnService').find(
    (one) => attributeOf(one, 'Binding') === redirectBinding && attributeOf(one, 'Location') !== null,
  );
  const certificates = [...new Set(certificatesOf(role))];
  demand(certificates.length > 0, 'The metadata has no signing certificate.');
  const description = {
    entityId: attributeOf(provider, 'entityID') ?? refuse('The metadata has no entityID.'),
    entryPoint: (service && attributeOf(service, 'Location')) ?? refuse('The metadata has no sign-in address for HTTP-Redirect.'),
    certificates,
  };
  demand(JSON.stringify(description).length <= maxDescription, 'The certificates or addresses in the metadata are too long.');
  return description;
}
