import { setAndEvict } from '#core/bounded-map.ts';
import { type AddFooter, type RenderedMail, renderAboveFooter, renderMail } from '#core/mail/mail-document.ts';
import type { CodeMails } from '#features/outbox/code-mails.ts';
import { composeMail, readContent } from '#features/outbox/mail-content.ts';
import type { Ports } from '#ports/ports.ts';
import { claimedContent } from './claimed-content.ts';
import type { AttemptOutcome, ClaimedDelivery } from './delivery-queue.ts';
import { unsubscribeUrl } from './unsubscribe.ts';

export type ComposePorts = Pick<Ports, 'store' | 'links' | 'vault'> & { readonly codeMails: CodeMails };

/** The recipient, the mail and additional headers of a claimed delivery. */
export interface ComposedDelivery {
  readonly to: string;
  readonly mail: RenderedMail;
  readonly headers: Readonly<Record<string, string>>;
}

const commonHeaders = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' };
const maxCachedMails = 20; // about 100 KB each

/** Composes the mails of claimed deliveries. Renders a mail once for its recipients: there may be thousands of them. */
export class DeliveryComposer {
  readonly #ports: ComposePorts;
  readonly #timeZone: string;
  /** Rendered mails by the id of their content, which never changes. */
  readonly #rendered = new Map<number, AddFooter>();

  /** @param timeZone IANA name */
  constructor(ports: ComposePorts, timeZone: string) {
    this.#ports = ports;
    this.#timeZone = timeZone;
  }

  /** Returns the mail of a claimed delivery, or why it is not sent. */
  async compose(delivery: ClaimedDelivery): Promise<ComposedDelivery | AttemptOutcome> {
    const row = await claimedContent(this.#ports, delivery);
    if ('kind' in row) return row;
    if (!row.content) return { kind: 'refused', error: 'The text of the mail was deleted.' };
    const { kind, data, language } = row.content;
    const addFooter = this.#rendered.get(delivery.content_id);
    if (addFooter) return this.#composeFor(delivery, addFooter);
    const content = readContent(kind, data);
    if (content.kind === 'code') {
      const codeMail = await this.#ports.codeMails.open(content.content.sealed, language);
      return codeMail ? { to: codeMail.to, mail: renderMail(codeMail.mail), headers: commonHeaders } : { kind: 'unwanted' };
    }
    const rendered = renderAboveFooter(composeMail(content, language, this.#timeZone));
    setAndEvict(this.#rendered, delivery.content_id, rendered, maxCachedMails);
    return this.#composeFor(delivery, rendered);
  }

  #composeFor(delivery: ClaimedDelivery, addFooter: AddFooter): ComposedDelivery {
    const to = delivery.recipient;
    if (delivery.kind !== 'alert') return { to, mail: addFooter(), headers: commonHeaders };
    const unsubscribe = unsubscribeUrl(this.#ports, delivery);
    // RFC 8058: a mail program unsubscribes with one POST.
    const listHeaders = { 'List-Unsubscribe': `<${unsubscribe}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
    return { to, mail: addFooter(unsubscribe), headers: { ...commonHeaders, ...listHeaders } };
  }
}
