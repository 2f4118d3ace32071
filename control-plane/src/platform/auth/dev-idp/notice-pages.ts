import { escapeHtml } from '../../escape-html.ts';
import { page } from './page.ts';

export function errorPage(error: string, description: string | undefined): string {
  return page(
    'Sign-in problem',
    `<h1>This did not work</h1>
<p class="bad" role="alert">${escapeHtml(description ?? error)}</p>
<p>Go back to the application and try again. <code>${escapeHtml(error)}</code></p>`,
  );
}

/** `form` comes from the provider with the id that the buttons name. */
export function signOutPage(form: string): string {
  return page(
    'Sign out',
    `<h1>Sign out?</h1>
<p>You will also be signed out of the identity provider.</p>
${form}
<button autofocus type="submit" form="op.logoutForm" name="logout" value="yes">Sign out</button>
<button class="plain" type="submit" form="op.logoutForm">Stay signed in</button>`,
  );
}

export function signedOutPage(): string {
  return page('Signed out', '<h1>You are signed out</h1><p>You can close this page.</p>');
}

export function deviceCodePage(form: string, problem: string | undefined): string {
  // The provider's input has an inline handler, which our policy forbids, and no label.
  const labelled = form
    .replace(/ onfocus="[^"]*"/, '')
    .replace('name="user_code"', 'name="user_code" aria-label="Code"');
  return page(
    'Connect a device',
    `<h1>Connect a device</h1>
<p>Enter the code that the command line shows.</p>
${problem === undefined ? '' : `<p class="bad" role="alert">${escapeHtml(problem)}</p>`}
${labelled}
<button type="submit" form="op.deviceInputForm">Continue</button>`,
  );
}

export function deviceConfirmPage(form: string, client: string, userCode: string): string {
  return page(
    'Confirm the device',
    `<h1>Is this your device?</h1>
<p>${escapeHtml(client)} asks to act for you. Continue only if it shows this code:</p>
<code class="code">${escapeHtml(userCode)}</code>
${form}
<button autofocus type="submit" form="op.deviceConfirmForm">Continue</button>
<button class="plain" type="submit" form="op.deviceConfirmForm" name="abort" value="yes">Cancel</button>`,
  );
}

export function deviceConnectedPage(): string {
  return page(
    'Device connected',
    '<h1>Device connected</h1><p>You can close this page and return to the terminal.</p>',
  );
}
