import type { TestPostern, TestResponse } from '../start.ts';

interface StoredCookie {
  readonly origin: string;
  readonly path: string;
  readonly name: string;
  readonly value: string;
}

/** A fake browser that follows redirects, and keeps the cookies of each origin and path. */
export class RedirectedBrowser {
  readonly cookies: StoredCookie[] = [];
  /** Every address that the browser has opened or posted a form to. */
  readonly visited: string[] = [];
  readonly #headers: Readonly<Record<string, string>>;

  /** @param headers sent with each request */
  constructor(headers: Readonly<Record<string, string>> = {}) {
    this.#headers = headers;
  }

  /** Opens an address. @param until returns true for the address of a redirect that must not be followed */
  async open(address: string, until: (url: URL) => boolean = () => false): Promise<{ url: URL; response: Response }> {
    let url = new URL(address);
    for (let hops = 0; hops < 10; hops += 1) {
      this.visited.push(url.href);
      const response = await fetch(url, { redirect: 'manual', headers: this.#headersFor(url) });
      for (const header of response.headers.getSetCookie()) this.#storeCookie(url.origin, header);
      const location = response.headers.get('location');
      if (location === null) return { url, response };
      url = new URL(location, url);
      if (until(url)) return { url, response };
    }
    throw new Error('too many redirects');
  }

  /**
   * Posts a form, and follows the redirects.
   * @param withCookies false: the browser sends no cookies, because the form is on a page of another site
   */
  async postForm(address: string, form: Record<string, string>, withCookies = true): Promise<{ url: URL; response: Response }> {
    const url = new URL(address);
    this.visited.push(url.href);
    const headers = withCookies ? this.#headersFor(url) : this.#headers;
    const response = await fetch(url, { method: 'POST', redirect: 'manual', headers, body: new URLSearchParams(form) });
    for (const header of response.headers.getSetCookie()) this.#storeCookie(url.origin, header);
    const location = response.headers.get('location');
    return location === null ? { url, response } : this.open(new URL(location, url).href);
  }

  /** Sends JSON to an address with the cookies of its origin. @returns the text of the response */
  async send(address: string, method: 'POST' | 'PUT', body: object): Promise<string> {
    const url = new URL(address);
    const headers = { ...this.#headersFor(url), 'content-type': 'application/json' };
    const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
    for (const header of response.headers.getSetCookie()) this.#storeCookie(url.origin, header);
    const text = await response.text();
    if (!response.ok) throw new Error(`${address} answered ${response.status}: ${text}`);
    return text;
  }

  #headersFor(url: URL): Record<string, string> {
    const matchingCookies = this.cookies.filter(({ origin, path }) => origin === url.origin && url.pathname.startsWith(path));
    return {
      ...this.#headers,
      ...(matchingCookies.length === 0 ? {} : { cookie: matchingCookies.map(({ name, value }) => `${name}=${value}`).join('; ') }),
    };
  }

  #storeCookie(origin: string, header: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? [];
    const path = /; path=([^;]*)/i.exec(header)?.[1] ?? '/';
    const at = this.cookies.findIndex((one) => one.origin === origin && one.name === name && one.path === path);
    if (at >= 0) this.cookies.splice(at, 1);
    if (value !== '') this.cookies.push({ origin, path, name, value });
  }

  /** Opens `/visit` of a link or portal. @param base its path, such as `/s/{viewId}` */
  async visit(postern: TestPostern, base: string): Promise<Pick<TestResponse, 'status' | 'body'>> {
    const { response } = await this.open(`${postern.publicUrl}${base}/visit`);
    return { status: response.status, body: JSON.parse(await response.text()) };
  }
}
