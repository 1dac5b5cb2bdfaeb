// Writes the pages of the documentation that are generated from the source. A test checks that they are current.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messagesPage, settingsPage } from './docs-pages.ts';

const docs = join(import.meta.dirname, '../docs');
writeFileSync(join(docs, 'integrator/messages.md'), messagesPage());
writeFileSync(join(docs, 'operator/settings.md'), settingsPage());
