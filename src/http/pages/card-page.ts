import type { FastifyRequest } from 'fastify';
import { escapeHtml } from '#core/escape-html.ts';
import { allMessages } from '#core/translations/all-messages.ts';
import { directionOf, type Language, languageOf, tagOf } from '#core/translations/languages.ts';
import { createTranslate, type Translate } from '#core/translations/translate.ts';
import { preferencesOf } from '#http/content-negotiation.ts';

/** The reader of a page that the server renders: the language of the reader, and the texts in that language. */
export interface Reader {
  readonly language: Language;
  readonly translate: Translate;
}

/** Returns the reader of a request, by the languages that the browser prefers. */
export function readerOf(request: FastifyRequest): Reader {
  const tags = preferencesOf(request).languages();
  const language = languageOf(tags);
  return { language, translate: createTranslate(allMessages[language], tagOf(language, tags)) };
}

/** Returns a page with one card, which needs no script. @param paragraphs HTML, escaped by the caller */
export const cardPage = (reader: Pick<Reader, 'language'>, title: string, paragraphs: readonly string[]): string =>
  cardPageOf(reader, title, paragraphs.map((paragraph) => `<p>${paragraph}</p>`).join('\n'));

/** Returns a page with one card, which needs no script. @param content HTML, escaped by the caller */
export function cardPageOf({ language }: Pick<Reader, 'language'>, title: string, content: string): string {
  return `<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="/assets/failure.css">
</head>
<body>
<main class="card">
<h1>${escapeHtml(title)}</h1>
${content}
</main>
</body>
</html>
`;
}
