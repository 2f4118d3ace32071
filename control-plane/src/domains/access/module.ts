import type { Services } from '../../platform/services.ts';
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
}

export const accessModule = {
  routes: ({ services, gateway, terminalTokens }: AccessContext) =>
    terminalRoutes(services, terminalTokens, gateway),
  ticks: () => [pruneRecordings],
  retention: [pruneTerminalTokens],
};
