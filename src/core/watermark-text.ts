/** The visitor whom a watermark names. */
export interface MarkedVisitor {
  /** Display name. Empty: nobody has signed in, or the signed-in visitor has no name. */
  readonly user: string;
  readonly email: string;
  readonly address: string;
  /** ISO 8601, UTC: `2026-11-29`. */
  readonly date: string;
}

/** The watermark of a copy-protected share without a text of its own. */
const defaultText = '{user} · {ip} · {date}';
/** Characters of a watermark. A longer one could not be read. */
const maxLength = 200;

/**
 * Returns the text of a watermark, with the visitor in place of `{user}`, `{email}`, `{ip}` and `{date}`. Parts between middle dots that
 * are empty for this visitor are left out. If nothing is left, the text is the address.
 * @param template `waterMarkText` of the share
 */
export function watermarkText(template: string, { user, email, address, date }: MarkedVisitor): string {
  const values: Readonly<Record<string, string>> = { user: user || email, email, ip: address, date };
  const text = (template || defaultText).replace(/\{(user|email|ip|date)\}/g, (_, name: string) => values[name] ?? '');
  const oneLine = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ');
  const parts = oneLine.split(' · ').map((part) => part.trim());
  return [...parts.filter((part) => part !== '').join(' · ')].slice(0, maxLength).join('') || address;
}
