import { escapeHtml } from '#core/escape-html.ts';
import { cardPage, type Reader } from './card-page.ts';

/**
 * Returns the page for a reader who opens the public address without a link.
 * @param hasManagement whether the management interface is served at the same address
 */
export function frontPage(hasManagement: boolean, reader: Reader): string {
  const operatorHint =
    '<span lang="en" dir="ltr">Do you run this server? <a href="/console">Open the console</a>, or <a href="/docs">try the API</a>.</span>';
  return cardPage(reader, reader.translate('sharedByLink'), [
    escapeHtml(reader.translate('notFoundNext')),
    ...(hasManagement ? [operatorHint] : []),
  ]);
}
