import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { SignInCookies } from '../../../platform/auth/sign-in-cookies.ts';
import { escapeHtml } from '../../../platform/escape-html.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import type { Services } from '../../../platform/services.ts';
import type { AppDirectory } from './app-directory.ts';
import { appOrigin, type AppsSite } from './app-host.ts';
import { openApp } from './open-app.ts';

/** Longest path that the sign-in page returns to. */
const MAX_RETURN_TO = 500;

export function appGatewayRoutes(context: {
  gateway: { services: Services };
  appsSite: AppsSite;
  apps: AppDirectory;
  signIn: { cookies: SignInCookies };
}): Handlers<Pick<operations, 'openApp'>, Caller> {
  const { gateway, appsSite, apps, signIn } = context;
  return {
    async openApp({
      params: { label },
      query: { attempt, to = '/', signed_in = false },
      request,
      reply,
      correlationId,
    }) {
      reply.header('cache-control', 'no-store');
      const opened = await openApp(gateway.services, apps, {
        label,
        attempt,
        signIn: signIn.cookies.signIn(request),
        correlationId,
        ip: request.ip,
      });
      if (!opened)
        return found(`/auth/login?${new URLSearchParams({ return_to: here(label, attempt, to) })}`);
      const { ticket } = opened;
      const back = new URLSearchParams({ ticket, to });
      const location = `${appOrigin(appsSite, label)}/.gpuaas/enter?${back}`;
      if (!signed_in) return found(location);
      reply.header('refresh', `0; url=${location}`);
      return { status: 200, body: leadingPage(location), mediaType: 'text/html; charset=utf-8' };
    },
  };
}

function here(label: string, attempt: string, to: string): string {
  const path = `/auth/apps/${label}?${new URLSearchParams({ attempt, signed_in: 'true' })}`;
  const whole = `${path}&${new URLSearchParams({ to })}`;
  return whole.length <= MAX_RETURN_TO ? whole : path;
}

function leadingPage(location: string): string {
  return `<!doctype html><meta charset="utf-8"><title>Opening the app</title><p><a href="${escapeHtml(location)}">Open the app</a></p>`;
}

function found(location: string): { status: 302; body: undefined; location: string } {
  return { status: 302, body: undefined, location };
}
