import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';

export interface GitHubUser {
  id: number;
  login: string;
  name: string | null;
  emails: { email: string; primary: boolean; verified: boolean; visibility: string | null }[];
}

export interface FakeGitHub {
  url: string;
  clientId: string;
  clientSecret: string;
  /** The callback URL of the OAuth app. */
  callback: string;
  user: GitHubUser;
  stop(): Promise<void>;
}

interface Grant {
  redirectUri: string;
  challenge: string;
  scopes: string[];
}

/**
 * GitHub's OAuth code flow and the two API calls that follow it, as strict as GitHub: codes work once, with the
 * redirect URI and the verifier they were made for; errors of the token endpoint come with status 200; the API wants a
 * user agent and a token with the right scope.
 */
export async function startFakeGitHub(callback: string, user: GitHubUser): Promise<FakeGitHub> {
  const codes = new Map<string, Grant>();
  const tokens = new Map<string, string[]>();
  const github = {
    clientId: 'Iv1.0123456789abcdef',
    clientSecret: 'secret-of-the-oauth-app',
    callback,
    user,
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', url);
    const route = `${request.method} ${pathname}`;
    if (route === 'GET /login/oauth/authorize') authorize(searchParams, response);
    else if (route === 'POST /login/oauth/access_token') exchange(await form(request), request, response);
    else if (pathname.startsWith('/api/v3/')) api(pathname.slice(7), request, response);
    else send(response, 404, { message: 'Not Found' });
  }

  /** The person has agreed: the page is not part of the contract. */
  function authorize(query: URLSearchParams, response: ServerResponse): void {
    if (query.get('client_id') !== github.clientId) return send(response, 404, { message: 'Not Found' });
    const redirectUri = query.get('redirect_uri') ?? github.callback;
    const target = new URL(redirectUri);
    if (redirectUri !== github.callback) {
      return redirect(response, github.callback, {
        error: 'redirect_uri_mismatch',
        state: query.get('state'),
      });
    }
    const code = randomBytes(10).toString('hex');
    const scopes = (query.get('scope') ?? '').split(/[ ,]+/).filter((scope) => scope !== '');
    codes.set(code, { redirectUri, challenge: query.get('code_challenge') ?? '', scopes });
    redirect(response, target.href, { code, state: query.get('state') });
  }

  function exchange(fields: URLSearchParams, request: IncomingMessage, response: ServerResponse): void {
    const refuse = (error: string) => send(response, 200, { error, error_description: 'refused' });
    if (!request.headers.accept?.includes('application/json')) return send(response, 406, {});
    if (fields.get('client_id') !== github.clientId || fields.get('client_secret') !== github.clientSecret)
      return refuse('incorrect_client_credentials');
    const code = fields.get('code') ?? '';
    const grant = codes.get(code);
    codes.delete(code);
    if (!grant) return refuse('bad_verification_code');
    if (fields.get('redirect_uri') !== grant.redirectUri) return refuse('redirect_uri_mismatch');
    const hashed = createHash('sha256')
      .update(fields.get('code_verifier') ?? '')
      .digest('base64url');
    if (grant.challenge !== '' && hashed !== grant.challenge) return refuse('bad_verification_code');
    const token = `gho_${randomBytes(18).toString('hex')}`;
    tokens.set(token, grant.scopes);
    send(response, 200, { access_token: token, scope: grant.scopes.join(','), token_type: 'bearer' });
  }

  function api(path: string, request: IncomingMessage, response: ServerResponse): void {
    if (!request.headers['user-agent']) return send(response, 403, { message: 'User-Agent required' });
    const scopes = tokens.get(/^(?:Bearer|token) (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '');
    if (!scopes) return send(response, 401, { message: 'Bad credentials' });
    const { id, login, name, emails } = github.user;
    if (path === '/user') return send(response, 200, { id, login, name, email: null, type: 'User' });
    const mayReadEmails = scopes.includes('user:email') || scopes.includes('user');
    if (path === '/user/emails' && mayReadEmails) return send(response, 200, emails);
    send(response, 404, { message: 'Not Found' });
  }

  return Object.assign(github, {
    url,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

async function form(request: IncomingMessage): Promise<URLSearchParams> {
  return new URLSearchParams(await text(request));
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}

function redirect(response: ServerResponse, target: string, query: Record<string, string | null>): void {
  const url = new URL(target);
  for (const [name, value] of Object.entries(query)) if (value !== null) url.searchParams.set(name, value);
  response.writeHead(302, { location: url.href }).end();
}
