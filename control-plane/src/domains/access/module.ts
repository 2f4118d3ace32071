import type { SignInCookies } from '../../platform/auth/sign-in-cookies.ts';
import type { Services } from '../../platform/services.ts';
import type { AppDirectory } from './http/app-directory.ts';
import type { AppsSite } from './http/app-host.ts';
import { pruneAppTickets } from './http/prune-tickets.ts';
import { appGatewayRoutes } from './http/routes.ts';
import { pruneRecordings } from './recordings/prune-recordings.ts';
import { terminalRoutes } from './routes.ts';
import { pruneTerminalTokens } from './tokens/prune-tokens.ts';
import type { TerminalTokens } from './tokens/terminal-tokens.ts';
import type { TunnelHub } from './tunnel/tunnel-hub.ts';

interface AccessContext {
  services: Services;
  /** What opens streams: its services act as the gateway. */
  gateway: { services: Services; hub: TunnelHub };
  terminalTokens: TerminalTokens;
  appsSite: AppsSite;
  apps: AppDirectory;
  signIn: { cookies: SignInCookies };
}

export const accessModule = {
  routes: ({ services, gateway, terminalTokens, ...context }: AccessContext) => ({
    ...terminalRoutes(services, terminalTokens, gateway),
    ...appGatewayRoutes({ gateway, ...context }),
  }),
  ticks: () => [pruneRecordings],
  retention: [pruneTerminalTokens, pruneAppTickets],
};
