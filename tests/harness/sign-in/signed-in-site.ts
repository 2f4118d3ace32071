import type { DevPerson } from '@gpuaas/control-plane/platform/auth/dev-idp/dev-idp';
import type { OidcSettings } from '@gpuaas/control-plane/platform/auth/trusted-providers';
import type { ApiOptions } from '@gpuaas/control-plane/roles/api';
import { createTestApi, type TestApi } from '../api.ts';
import type { CookieBrowser, Page } from './cookie-browser.ts';
import { freePort } from '../processes/free-port.ts';
import { AUDIENCE, startIdentityProvider, visitor, type TestIdentityProvider } from './identity-provider.ts';

export interface TestSite {
  url: string;
  api: TestApi;
  idp: TestIdentityProvider;
  /** Signs in through the provider's page; where the browser ends up. */
  signIn(browser: CookieBrowser, options?: { person?: DevPerson; returnTo?: string }): Promise<Page>;
  me(browser: CookieBrowser): Promise<{ status: number; csrf: string; email: string; id: string }>;
  send(
    browser: CookieBrowser,
    method: string,
    path: string,
    headers?: Record<string, string>,
  ): Promise<Response>;
  stop(): Promise<void>;
}

/** The API on a real port with a real identity provider on another. */
export async function startSite(
  options: {
    people?: DevPerson[];
    api?: Partial<ApiOptions>;
    /** A free one if omitted. */
    port?: number;
    publicProviders?: OidcSettings['publicProviders'];
  } = {},
): Promise<TestSite> {
  const port = options.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const redirectUri = `${url}/auth/callback`;
  const idp = await startIdentityProvider({
    redirectUri,
    ...(options.people ? { people: options.people } : {}),
  });
  const api = await createTestApi({
    publicUrl: url,
    oidc: {
      issuer: idp.issuer,
      clientId: idp.clientId,
      clientSecret: idp.clientSecret,
      cliClientId: idp.cliClientId,
      audience: AUDIENCE,
      scopes: 'openid email profile',
      redirectUri,
      publicProviders: options.publicProviders ?? [],
    },
    ...options.api,
  });
  await api.server.listen({ host: '127.0.0.1', port });
  const send: TestSite['send'] = (browser, method, path, headers = {}) =>
    fetch(`${url}${path}`, { method, headers: { ...headers, cookie: browser.header(`${url}${path}`) } });
  return {
    url,
    api,
    idp,
    send,
    async signIn(browser, { person = visitor, returnTo = '/healthz' } = {}) {
      const page = await browser.go(`${url}/auth/login?return_to=${encodeURIComponent(returnTo)}`);
      if (page.url.startsWith(url)) return page;
      return await browser.submit(page, { email: person.email, password: person.password });
    },
    async me(browser) {
      const answer = await send(browser, 'GET', '/api/v1/me');
      if (answer.status !== 200) return { status: answer.status, csrf: '', email: '', id: '' };
      const body = (await answer.json()) as { csrf_token: string; user: { id: string; email: string } };
      return { status: 200, csrf: body.csrf_token, email: body.user.email, id: body.user.id };
    },
    async stop() {
      await api.stop();
      await idp.stop();
    },
  };
}
