import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider } from 'oidc-provider';
import { errors } from 'oidc-provider';
import { errorPage } from './notice-pages.ts';
import { pageHeaders } from './page.ts';
import { authenticate } from './dev-people.ts';
import type { DevPerson } from './dev-people.ts';
import { signInPage } from './sign-in-page.ts';

const MAX_FORM_BYTES = 10_000;

type SignIn = { provider: Provider; people: DevPerson[]; mountPath: string; consoleOrigin: string };

/** Serves the page that the provider sends a browser to when a person must sign in. */
export function createSignIn({ provider, people, mountPath, consoleOrigin }: SignIn) {
  const show = (res: ServerResponse, status: number, html: string): void => {
    res.writeHead(status, pageHeaders(consoleOrigin)).end(html);
  };

  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { uid, prompt, params, lastSubmission } = await provider.interactionDetails(req, res);
    if (prompt.name === 'consent') {
      // The provider asks again after we agreed: the request wants more than any grant of ours. Without this
      // it would loop.
      const askedAgain = lastSubmission !== undefined && 'consent' in lastSubmission;
      const refusal = {
        error: 'access_denied',
        error_description: 'The request asks for more than there is.',
      };
      return provider.interactionFinished(req, res, askedAgain ? refusal : { consent: {} });
    }

    const action = `${mountPath}/interaction/${uid}`;
    const hint = typeof params['login_hint'] === 'string' ? params['login_hint'] : '';
    if (req.method !== 'POST') {
      return show(res, 200, signInPage({ action, people, email: hint, wrongPassword: false }));
    }
    const form = await readForm(req);
    if (form.has('cancel')) {
      return provider.interactionFinished(req, res, {
        error: 'access_denied',
        error_description: 'The person cancelled the sign-in.',
      });
    }
    const email = form.get('email') ?? '';
    const person = authenticate(people, email, form.get('password') ?? '');
    if (!person) return show(res, 401, signInPage({ action, people, email, wrongPassword: true }));
    return provider.interactionFinished(req, res, { login: { accountId: person.sub } });
  };

  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    try {
      await answer(req, res);
    } catch (error) {
      if (res.headersSent) return void res.end();
      if (error instanceof errors.SessionNotFound) {
        return show(
          res,
          400,
          errorPage('session_not_found', 'This sign-in has expired or was started elsewhere.'),
        );
      }
      if (error instanceof FormTooLarge) return show(res, 413, errorPage('form_too_large', error.message));
      show(res, 500, errorPage('server_error', 'The identity provider failed.'));
    }
  };
}

class FormTooLarge extends Error {}

async function readForm(req: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req) {
    size += chunk.length;
    if (size > MAX_FORM_BYTES) throw new FormTooLarge('The form is too large.');
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString());
}
