import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { SignInCookies } from '../../../platform/auth/sign-in-cookies.ts';
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
    async openApp({ params: { label }, query: { attempt, to = '/' }, request, reply, correlationId }) {
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
      return found(`${appOrigin(appsSite, label)}/.gpuaas/enter?${back}`);
    },
  };
}

function here(label: string, attempt: string, to: string): string {
  const path = `/auth/apps/${label}?${new URLSearchParams({ attempt })}`;
  const whole = `${path}&${new URLSearchParams({ to })}`;
  return whole.length <= MAX_RETURN_TO ? whole : path;
}

function found(location: string): { status: 302; body: undefined; location: string } {
  return { status: 302, body: undefined, location };
}
