import { formatCount, formatNumber, formats } from '#console/components/format.ts';
import type { Location } from '#core/records/location.ts';

/** Returns what a location holds: `1.2 GB in 53 files`, with its quota if it has one; or that it is not counted yet. */
export function usedSpaceText({ usedBytes, usedFiles, maxBytes, maxFiles }: Location): string {
  if (usedBytes === null || usedFiles === null) return 'Not counted yet';
  const size = `${formats.size(usedBytes)}${maxBytes === null ? '' : ` of ${formats.size(maxBytes)}`}`;
  const files =
    maxFiles === null ? formatCount(usedFiles, 'file', 'files') : `${formatNumber(usedFiles)} of ${formatCount(maxFiles, 'file', 'files')}`;
  return `${size} in ${files}`;
}
