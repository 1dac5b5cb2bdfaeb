import { cardPage, escapeHtml, type Reader } from './card-page.ts';

/**
 * What the address itself answers to somebody who opens it without a link.
 * @param managed whether the management interface answers here, too
 */
export function frontPage(managed: boolean, reader: Reader): string {
  const forOperators =
    '<span lang="en" dir="ltr">Do you run this server? <a href="/console">Open the console</a>, or <a href="/docs">try the interface</a>.</span>';
  return cardPage(reader, reader.say('sharedByLink'), [escapeHtml(reader.say('notFoundNext')), ...(managed ? [forOperators] : [])]);
}
