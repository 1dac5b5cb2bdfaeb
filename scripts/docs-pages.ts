import { messages } from '../src/core/messages.ts';
import { settingDefinitions } from '../src/settings.ts';

/** docs/integrator/messages.md: everything that Postern can say. */
export function messagesPage(): string {
  const rows = Object.entries(messages)
    .sort(([, a], [, b]) => a.status - b.status || a.id - b.id)
    .map(([code, { id, status, title }]) => `| ${id} | \`${code}\` | ${status} | ${title} |`);
  return `# Messages\n\nEvery \`messageId\` and \`code\` that Postern answers, with its HTTP status. A number, once released, keeps its meaning for ever. Written by \`npm run docs\`.\n\n| messageId | code | status | message |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}

/** docs/operator/settings.md: every environment variable. */
export function settingsPage(): string {
  const rows = Object.values(settingDefinitions).map(
    ({ name, fallback, meaning }) => `| \`${name}\` | ${fallback === '' ? 'none' : `\`${fallback}\``} | ${meaning} |`,
  );
  return `# Settings\n\nBy environment variables, all optional; a wrong or unknown one stops the start by name. Written by \`npm run docs\`.\n\n| Variable | Default | Meaning |\n|---|---|---|\n${rows.join('\n')}\n`;
}
