import { isIP } from 'node:net';
import { encodeText } from '#adapters/storage/objects/encode-key.ts';
import { hostOf } from '#core/host-of.ts';
import type { AzureConfiguration } from '#core/records/location-configurations.ts';

/** Addresses of a container, and the account that signatures name. */
export interface AzureAddress {
  readonly account: string;
  readonly container: string;
  /** URL of the container, without a slash at its end. */
  readonly containerUrl: string;
  /** URL of the container at the Data Lake service, which has real folders. An endpoint without `.blob.` serves both. */
  readonly dataLakeUrl: string;
}

/** Returns the account that an endpoint names: the first part of its path, as in emulators, or of its host name. */
function accountIn(url: URL): string {
  const inPath = url.pathname.split('/')[1] ?? '';
  const isName = isIP(hostOf(url.hostname)) === 0;
  return inPath === '' && isName ? (url.hostname.split('.')[0] ?? '') : inPath;
}

/** Returns the addresses of a container. The form of the configuration was checked. */
export function azureAddress({ account, endpoint, container }: AzureConfiguration): AzureAddress {
  const url = new URL(endpoint ?? `https://${account}.blob.core.windows.net`);
  const accountUrl = url.href.replace(/\/+$/, '');
  const containerUrl = `${accountUrl}/${encodeText(container)}`;
  const dataLakeUrl = containerUrl.replace(/^(https?:\/\/[^/]+)\.blob\./, '$1.dfs.');
  return { account: account ?? accountIn(url), container, containerUrl, dataLakeUrl };
}
