import { escapeHtml } from '#core/escape-html.ts';
import { directionOf, type Language } from '#core/translations/languages.ts';
import { visibleName } from '#core/translations/visible-name.ts';

/** A mail as data. Its text and its HTML show the same content. */
export interface MailDocument {
  readonly language: Language;
  readonly title: string;
  readonly blocks: readonly MailBlock[];
  /** A short text in a small font at the end, and a link after it, whose address differs by recipient. */
  readonly footer: { readonly text: string; readonly linkLabel?: string };
}

/** A mail before it is rendered. */
export interface ComposedMail {
  readonly subject: string;
  readonly document: MailDocument;
}

/** A mail as it is sent. */
export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface MailLink {
  readonly label: string;
  readonly url: string;
}

export type MailBlock =
  | { readonly kind: 'text'; readonly text: string }
  /** Text that a person has written, with its line breaks. */
  | { readonly kind: 'quote'; readonly label: string; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'button'; readonly link: MailLink }
  | { readonly kind: 'facts'; readonly facts: readonly { readonly label: string; readonly value: string }[] }
  | { readonly kind: 'list'; readonly label: string; readonly items: readonly { readonly text: string; readonly note: string }[] };

/**
 * Returns a text from outside Postern, such as a title or a path, for one line of a mail. Replaces line breaks and other control
 * characters by spaces: a line break could begin a new header or imitate lines of Postern. Replaces direction marks by a visible character.
 */
export const oneLine = (text: string): string => visibleName(text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')).trim();

/** Returns a text of several lines. Line breaks are its only control characters. */
const severalLines = (text: string) => visibleName(text.replace(/\r\n?|[\u2028\u2029]/g, '\n').replace(/[^\P{Cc}\n]/gu, ' ')).trim();

function blockText(block: MailBlock): string {
  switch (block.kind) {
    case 'text':
    case 'code':
      return oneLine(block.text);
    case 'quote':
      return `${block.label}:\n${severalLines(block.text).replace(/^/gm, '> ')}`;
    case 'button':
      return `${block.link.label}:\n${block.link.url}`;
    case 'facts':
      return block.facts.map(({ label, value }) => `${label}: ${oneLine(value)}`).join('\n');
    case 'list':
      return [
        `${block.label}:`,
        ...block.items.map(({ text, note }) => (note === '' ? `- ${oneLine(text)}` : `- ${oneLine(text)} (${oneLine(note)})`)),
      ].join('\n');
  }
}

/** Returns the text of a mail above its footer. */
const textAboveFooter = ({ title, blocks }: MailDocument) => [oneLine(title), ...blocks.map(blockText)].join('\n\n');

const footerText = (text: string, link: MailLink | null) => `-- \n${text}${link ? `\n${link.label}: ${link.url}` : ''}\n`;

/** Returns the HTML of a text from outside Postern. Its direction may differ: `<bdi>` prevents it from reversing the text beside it. */
const foreignText = (text: string) => `<bdi>${escapeHtml(oneLine(text))}</bdi>`;
const anchor = ({ label, url }: MailLink, style: string) => `<a href="${escapeHtml(url)}" class="${style}">${escapeHtml(label)}</a>`;

function blockHtml(block: MailBlock): string {
  switch (block.kind) {
    case 'text':
      return `<p>${escapeHtml(oneLine(block.text))}</p>`;
    case 'quote':
      return `<p class="label">${escapeHtml(block.label)}</p><blockquote dir="auto">${escapeHtml(severalLines(block.text)).replaceAll('\n', '<br>')}</blockquote>`;
    case 'code':
      return `<p class="code">${escapeHtml(block.text)}</p>`;
    case 'button':
      return `<p>${anchor(block.link, 'button')}</p>`;
    case 'facts':
      return `<dl>${block.facts.map(({ label, value }) => `<dt>${escapeHtml(label)}</dt><dd>${foreignText(value)}</dd>`).join('')}</dl>`;
    case 'list':
      return `<p class="label">${escapeHtml(block.label)}</p><ul>${block.items
        .map(({ text, note }) => `<li>${foreignText(text)}${note === '' ? '' : `<br><small>${foreignText(note)}</small>`}</li>`)
        .join('')}</ul>`;
  }
}

// The styles are part of the document and contain no URLs: a mail program loads nothing, and can show the mail offline.
const style = `
:root{color-scheme:light dark}
body{margin:0;padding:24px 12px;background:#f4f4f2;color:#1d1f21;font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif}
main{max-width:560px;margin:0 auto;padding:28px 24px;background:#fff;border-radius:12px;overflow-wrap:anywhere}
h1{margin:0 0 16px;font-size:20px;line-height:1.3}
p{margin:0 0 16px}
dl{margin:0 0 16px;padding:0}
dt,.label{margin:0 0 2px;font-size:13px;color:#5d6269}
dd{margin:0 0 12px}
ul{margin:0 0 16px;padding:0;list-style:none}
li{padding:8px 0;border-top:1px solid #e4e4e0}
small{color:#5d6269}
blockquote{margin:0 0 16px;padding:2px 0 2px 14px;border-inline-start:3px solid #c9cbc6}
.code{font:600 32px/1.3 ui-monospace,Menlo,Consolas,monospace;letter-spacing:4px}
.button{display:inline-block;padding:12px 20px;border-radius:8px;background:#1f5fbf;color:#fff;font-weight:600;text-decoration:none}
footer{max-width:560px;margin:16px auto 0;padding:0 24px;font-size:13px;color:#5d6269}
footer a{color:inherit}
@media (prefers-color-scheme:dark){
body{background:#17191b;color:#e8e8e6}
main{background:#222528}
dt,.label,small,footer{color:#a3a8ae}
li{border-color:#383c40}
blockquote{border-color:#555a60}
.button{background:#8ab4f8;color:#10243f}
}`;

/** Returns the HTML of a mail above its footer. */
const htmlAboveFooter = ({ language, title, blocks }: MailDocument) => `<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark">
<title>${escapeHtml(oneLine(title))}</title><style>${style}
</style></head>
<body><main><h1>${escapeHtml(oneLine(title))}</h1>
${blocks.map(blockHtml).join('\n')}
</main>`;

const footerHtml = (text: string, link: MailLink | null) =>
  `<footer>${escapeHtml(text)}${link ? `<br>${anchor(link, 'quiet')}` : ''}</footer></body></html>\n`;

/** Returns a mail with the address of the link in its footer. Without an address, it has no link there. */
export type AddFooter = (linkUrl?: string) => RenderedMail;

/** Renders all but the footer, once for all recipients: a mail that names a hundred files takes milliseconds to render. */
export function renderAboveFooter({ subject, document }: ComposedMail): AddFooter {
  const { text: footer, linkLabel } = document.footer;
  const [text, html] = [textAboveFooter(document), htmlAboveFooter(document)];
  return (linkUrl) => {
    const link = linkLabel === undefined || linkUrl === undefined ? null : { label: linkLabel, url: linkUrl };
    return { subject, text: `${text}\n\n${footerText(footer, link)}`, html: html + footerHtml(footer, link) };
  };
}

/** Renders a mail whose footer has no link. */
export const renderMail = (mail: ComposedMail): RenderedMail => renderAboveFooter(mail)();
