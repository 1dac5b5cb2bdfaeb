import { cardPage } from './card-page.ts';

/**
 * What the address itself answers to somebody who opens it without a link.
 * @param managed whether the management interface answers here, too
 */
export function frontPage(managed: boolean): string {
  const forOperators =
    'Do you run this server? <a href="/docs">Try the interface</a>; the walk of five minutes in README.md ends with your first link.';
  return cardPage('Files are shared by link', [
    'Open the link that you were sent, whole. If it leads here, ask whoever sent it for a new one.',
    ...(managed ? [forOperators] : []),
  ]);
}
