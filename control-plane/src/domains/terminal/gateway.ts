import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { EventTail } from '../../platform/events/tail.ts';
import type { Services } from '../../platform/services.ts';
import type { StreamMetrics } from '../../platform/telemetry/stream-metrics.ts';
import { AccessWatch } from './access-watch.ts';
import { StreamGateway } from './streams/stream-gateway.ts';
import { TerminalGateway } from './terminal-gateway.ts';
import type { TerminalTokens } from './tokens/terminal-tokens.ts';
import type { TunnelHub } from './tunnel/tunnel-hub.ts';

export interface Gateway {
  /** False for a path that is not of the gateway. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  close(): Promise<void>;
}

/** The way into machines: terminals and streams to ports, with one watch over who is in. */
export function openGateway(
  services: Services,
  options: {
    hub: TunnelHub;
    tail: EventTail;
    tokens: TerminalTokens;
    metrics: StreamMetrics;
    publicUrl: string;
  },
): Gateway {
  const watch = new AccessWatch(services, options.tail);
  const parts = { ...options, services, watch };
  const terminals = new TerminalGateway(parts);
  const streams = new StreamGateway(parts);
  return {
    accept(request, socket, head) {
      if (TerminalGateway.isTerminalPath(request.url)) terminals.accept(request, socket, head);
      else if (StreamGateway.isStreamPath(request.url)) streams.accept(request, socket, head);
      else return false;
      return true;
    },
    async close() {
      await watch.close();
      terminals.close();
      streams.close();
    },
  };
}
