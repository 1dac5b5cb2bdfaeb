import type { TestContext } from 'node:test';
import type { MailSink } from '../parts/mail-sink.ts';
import { until } from '../ports/until.ts';
import type { StartOptions, TestPostern, TestResponse } from '../start.ts';
import { createShare, jsonPostRequest } from '../visit/visiting.ts';
import { headerOf, startWithMail, textOf } from './mailing.ts';

/**
 * Starts Postern with a mail server, a profile with sign-in by code, and a share. Postern takes the address of a visitor from
 * X-Forwarded-For.
 */
export async function startWithCodes(
  t: TestContext,
  { allow, users = ['ann'], ...start }: StartOptions & { readonly allow?: readonly string[]; readonly users?: readonly string[] } = {},
  server?: MailSink,
) {
  const environment = { POSTERN_TRUSTED_PROXIES: '127.0.0.1', ...start.environment };
  const { postern, sink } = await startWithMail(t, { ...start, environment }, server);
  const configuration = JSON.stringify(allow ? { allow } : {});
  const profile = await postern.call('loginprofile/add', { title: 'Clients', typeId: 4, configuration });
  const ids: Record<string, number> = {};
  for (const username of users) {
    const user = { username, active: true, authId: profile.id, email: `${username}@example.com` };
    ids[username] = (await postern.call('accessuser/add', user)).id;
  }
  const share = await createShare(postern, { authenticationId: profile.id });
  /** Waits for a mail to an address. @param number which mail, counted from 1 @returns its code */
  async function codeFor(email: string, number = 1): Promise<string> {
    const mails = () => sink.mails.filter(({ to }) => to[0] === email);
    await until(() => mails().length >= number);
    return codeIn(headerOf(mails()[number - 1], 'Subject'));
  }
  return { postern, sink, profile, share, users: ids, codeFor };
}

/** Returns the code in a text, without its space, or an empty string. */
export const codeIn = (text: string): string => (/\d{4} \d{4}/.exec(text)?.[0] ?? '').replace(' ', '');

/** Returns the sign-in link of a mail, or an empty string. */
export const linkIn = (mail: Parameters<typeof textOf>[0]): string => /https?:\/\/\S+#code=\d+/.exec(textOf(mail))?.[0] ?? '';

/** A visitor's browser, which keeps its cookies. */
export class Browser {
  readonly #postern: TestPostern;
  readonly #from: string;
  readonly cookies = new Map<string, string>();

  /** @param from address of the visitor */
  constructor(postern: TestPostern, from = '203.0.113.7') {
    this.#postern = postern;
    this.#from = from;
  }

  async send(path: string, init: RequestInit = {}): Promise<TestResponse> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...init.headers, 'x-forwarded-for': this.#from, ...(cookie ? { cookie } : {}) };
    const response = await this.#postern.visit(path, { ...init, headers });
    for (const header of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? [];
      this.cookies.set(name, value);
    }
    return response;
  }

  /** Requests a code at a link. */
  request(base: string, email: string, headers: Record<string, string> = {}): Promise<TestResponse> {
    return this.send(`${base}/sign-in/code`, jsonPostRequest({ email }, headers));
  }

  /** Enters a code at a link. @returns the status */
  async enterCode(base: string, email: string, code: string): Promise<number> {
    return (await this.send(`${base}/sign-in`, jsonPostRequest({ email, code }))).status;
  }
}

/** Returns a code that differs from the right one. */
export const wrongCode = (code: string, offset = 1): string => String((Number(code) + offset) % 100_000_000).padStart(8, '0');
