import type { Client, ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import {
  deviceCodePage,
  deviceConfirmPage,
  deviceConnectedPage,
  errorPage,
  signedOutPage,
  signOutPage,
} from './notice-pages.ts';
import { pageHeaders } from './page.ts';

/** Our pages replace those of the provider, which load fonts from elsewhere. */
export function providerPages(consoleOrigin: string) {
  const show = (ctx: KoaContextWithOIDC, html: string): void => {
    ctx.set(pageHeaders(consoleOrigin));
    ctx.body = html;
  };
  return {
    renderError: (ctx: KoaContextWithOIDC, out: ErrorOut) =>
      show(ctx, errorPage(out.error, out.error_description)),
    rpInitiatedLogout: {
      logoutSource: (ctx: KoaContextWithOIDC, form: string) => show(ctx, signOutPage(form)),
      postLogoutSuccessSource: (ctx: KoaContextWithOIDC) => show(ctx, signedOutPage()),
    },
    deviceFlow: {
      userCodeInputSource: (ctx: KoaContextWithOIDC, form: string, _out?: ErrorOut, error?: Error) =>
        show(ctx, deviceCodePage(form, error && describeCodeProblem(error))),
      userCodeConfirmSource: (
        ctx: KoaContextWithOIDC,
        form: string,
        client: Client,
        _deviceInfo: unknown,
        userCode: string,
      ) => show(ctx, deviceConfirmPage(form, client.clientName ?? client.clientId, userCode)),
      successSource: (ctx: KoaContextWithOIDC) => show(ctx, deviceConnectedPage()),
    },
  };
}

function describeCodeProblem(error: Error): string {
  if ('userCode' in error || error.name === 'NoCodeError') return 'That code is wrong, used or expired.';
  if (error.name === 'AbortedError') return 'The request was cancelled.';
  return 'This did not work. Try again.';
}
