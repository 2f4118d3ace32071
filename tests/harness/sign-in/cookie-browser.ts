export interface Page {
  url: string;
  status: number;
  html: string;
  headers: Headers;
}

interface Cookie {
  name: string;
  value: string;
  path: string;
  attributes: string;
}

/**
 * A browser without scripts: follows redirects and refreshes, keeps cookies, submits forms. It stops at URLs that match
 * `stopsAt`.
 */
export class CookieBrowser {
  readonly cookies: Cookie[] = [];
  readonly visited: string[] = [];
  readonly #stopsAt: string | null;

  constructor(options: { stopsAt?: string } = {}) {
    this.#stopsAt = options.stopsAt ?? null;
  }

  async go(url: string, form?: Record<string, string>, hops = 0): Promise<Page> {
    if (hops > 12) throw new Error(`endless redirects, now to ${url}`);
    this.visited.push(url);
    if (this.#stopsAt !== null && url.startsWith(this.#stopsAt))
      return { url, status: 0, html: '', headers: new Headers() };
    const response = await fetch(url, {
      redirect: 'manual',
      method: form ? 'POST' : 'GET',
      headers: { accept: 'text/html', cookie: this.header(url), 'user-agent': 'CookieBrowser/1' },
      ...(form && { body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const refresh = /^0; url=(.*)$/.exec(response.headers.get('refresh') ?? '')?.[1];
    const location = response.headers.get('location') ?? refresh ?? null;
    if (location !== null) {
      await response.arrayBuffer();
      return await this.go(new URL(location, url).href, undefined, hops + 1);
    }
    return { url, status: response.status, html: await response.text(), headers: response.headers };
  }

  /** Sends the first form of the page with its hidden fields and these. */
  async submit(page: Page, fields: Record<string, string>): Promise<Page> {
    const action = /<form[^>]* action="([^"]+)"/.exec(page.html)?.[1];
    if (action === undefined)
      throw new Error(`no form at ${page.url} (${page.status}): ${page.html.slice(0, 300)}`);
    const hidden = [...page.html.matchAll(/name="(xsrf|user_code|confirm)" value="([^"]*)"/g)];
    const kept = Object.fromEntries(hidden.map(([, name, value]) => [name!, value!]));
    return await this.go(new URL(action, page.url).href, { ...kept, ...fields });
  }

  header(url: string): string {
    const { pathname } = new URL(url);
    return this.cookies
      .filter(({ path }) => pathname.startsWith(path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  }

  cookie(name: string): Cookie | undefined {
    return this.cookies.find((cookie) => cookie.name === name);
  }

  plant(name: string, value: string): void {
    this.#keep(`${name}=${value}; Path=/`);
  }

  #keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    const path = /;\s*path=([^;]+)/i.exec(line)?.[1] ?? '/';
    const known = this.cookies.findIndex((cookie) => cookie.name === name && cookie.path === path);
    if (known >= 0) this.cookies.splice(known, 1);
    if (value !== '') this.cookies.push({ name, value, path, attributes: line });
  }
}
