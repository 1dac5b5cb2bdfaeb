import { useContext, useEffect, useRef } from 'preact/hooks';
import type { Visit } from '#core/records/visit.ts';
import { RefreshContext } from '#visitor/report-failure.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';

/** What a share may hold, and what it holds. */
export type Quota = NonNullable<NonNullable<Visit['share']>['quota']>;

interface Properties {
  readonly quota: Quota | null;
  /** Changes when the content of the share may have changed. The page then requests the used space again. */
  readonly version: number;
}

/** Says how much a visitor can still upload, if the share has a quota. */
export function QuotaNote({ quota, version }: Properties) {
  const { translate, format } = useTranslation();
  const refresh = useContext(RefreshContext);
  const shownVersion = useRef(version);
  useEffect(() => {
    if (quota === null || shownVersion.current === version) return;
    shownVersion.current = version;
    refresh();
  }, [version]);
  if (quota === null) return null;
  const { maxBytes, usedBytes, maxFiles, usedFiles } = quota;
  const left = (max: number, used: number) => Math.max(0, max - used);
  return (
    <p class="muted small" role="status">
      {maxBytes !== null && (
        <span>{translate('spaceLeft', { free: format.size(left(maxBytes, usedBytes)), total: format.size(maxBytes) })} </span>
      )}
      {maxFiles !== null && (
        <span>{translate('filesLeft', { free: format.number(left(maxFiles, usedFiles)), total: format.number(maxFiles) })}</span>
      )}
    </p>
  );
}
