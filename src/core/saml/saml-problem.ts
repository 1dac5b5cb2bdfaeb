import { isLoopbackHost } from '#core/loopback.ts';
import type { SamlConfiguration } from '#core/records/saml-configuration.ts';

/** Returns what is wrong with an address of a provider, or null. */
function addressProblem(address: string): string | null {
  const url = URL.parse(address);
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '')
    return 'must be an address without a user name, a password or a fragment';
  return url.protocol === 'https:' || isLoopbackHost(url.hostname) ? null : 'must begin with https://, unless it is on this machine';
}

/** Returns what is wrong with the description of the provider, or null. */
function providerProblem({ metadataUrl, metadata, entityId, entryPoint, certificates }: SamlConfiguration): string | null {
  const hasMetadata = metadataUrl !== undefined || metadata !== undefined;
  if (metadataUrl !== undefined && metadata !== undefined) return 'metadata must not be given with metadataUrl';
  if (hasMetadata)
    return entryPoint === undefined && certificates === undefined ? null : 'entryPoint and certificates must not be given with metadata';
  if (entityId === undefined && entryPoint === undefined && certificates === undefined)
    return 'metadataUrl is required, or metadata, or entityId with entryPoint and certificates';
  if (entityId === undefined) return 'entityId is required without metadata';
  if (entryPoint === undefined) return 'entryPoint is required without metadata';
  return certificates === undefined ? 'certificates are required without metadata' : null;
}

/** Returns whether a text has the form of one certificate in PEM. */
const isCertificate = (text: string) => /^\s*-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*$/.test(text);

/** Returns what is wrong with the configuration of a SAML profile that its schema accepts, or null. */
export function samlProblem(configuration: SamlConfiguration): string | null {
  for (const name of ['metadataUrl', 'entryPoint'] as const) {
    const problem = configuration[name] === undefined ? null : addressProblem(configuration[name]);
    if (problem !== null) return `${name} ${problem}`;
  }
  const { metadata, certificates = [], requireGroup, groupsAttribute } = configuration;
  if (metadata !== undefined && !/<(\w+:)?(EntityDescriptor|EntitiesDescriptor)[\s>]/.test(metadata))
    return 'metadata must be XML with an EntityDescriptor';
  if (!certificates.every(isCertificate)) return 'certificates must be certificates in PEM, one in each element';
  if (requireGroup !== undefined && groupsAttribute === undefined) return 'groupsAttribute is required with requireGroup';
  return providerProblem(configuration);
}
