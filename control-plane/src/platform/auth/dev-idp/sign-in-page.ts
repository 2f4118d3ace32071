import { escapeHtml } from '../../escape-html.ts';
import { page } from './page.ts';
import type { DevPerson } from './dev-people.ts';

type SignInPage = { action: string; people: DevPerson[]; email: string; wrongPassword: boolean };

/** Works without scripts: each demo person is a small form. */
export function signInPage({ action, people, email, wrongPassword }: SignInPage): string {
  const form = `<form method="post" action="${escapeHtml(action)}"`;
  const problem = wrongPassword ? '<p class="bad" role="alert">Email or password is wrong.</p>' : '';
  return page(
    'Sign in',
    `<h1>Sign in</h1>
<p>Demo identity provider. Not for production.</p>
${problem}
${form}>
<label for="email">Email</label>
<input id="email" name="email" type="email" autocomplete="username" required value="${escapeHtml(email)}"${wrongPassword ? '' : ' autofocus'}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${wrongPassword ? ' autofocus' : ''}>
<button type="submit">Sign in</button>
</form>
${people.length > 0 ? '<h2>Or continue as a demo person</h2>' : ''}
${people.map((person) => personForm(form, person)).join('\n')}
${form}>
<button class="plain" type="submit" name="cancel" value="yes">Cancel</button>
</form>`,
  );
}

function personForm(form: string, { email, name, password }: DevPerson): string {
  return `${form}>
<input type="hidden" name="email" value="${escapeHtml(email)}">
<input type="hidden" name="password" value="${escapeHtml(password)}">
<button class="person" type="submit"><strong>${escapeHtml(name)}</strong>
<span>${escapeHtml(email)}</span> <span>password <code>${escapeHtml(password)}</code></span></button>
</form>`;
}
