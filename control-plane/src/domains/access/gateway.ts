import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { EventTail } from '../../platform/events/tail.ts';
import { networkOf } from '../../platform/http/admission/client-network.ts';
import { OpenCounts, tooManyStreams } from '../../platform/http/open-counts.ts';
import { refuseUpgrade } from '../../platform/http/refuse-upgrade.ts';
import type { Services } from '../../platform/services.ts';
import type { StreamMetrics } from '../../platform/telemetry/stream-metrics.ts';
import { AccessWatch } from './access-watch.ts';
import { StreamGateway } from './streams/stream-gateway.ts';
import { TerminalGateway } from './terminal/terminal-gateway.ts';
import type { TerminalTokens } from './tokens/terminal-tokens.ts';
import type { TunnelHub } from './tunnel/tunnel-hub.ts';

export interface Gateway {
  /** Whether the upgrade leads into a machine; any other is not for us. */
  serves(request: IncomingMessage): boolean;
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): Promise<void>;
}

/** Access to machines: terminals and streams to ports, with one watch over all connections. */
export function openGateway(
  services: Services,
  options: {
    hub: TunnelHub;
    tail: EventTail;
    tokens: TerminalTokens;
    metrics: StreamMetrics;
    publicUrl: string;
    addressOf(request: IncomingMessage): string;
  },
): Gateway {
  const watch = new AccessWatch(services, options.tail);
  /** Connections that nobody has shown a token on yet. */
  const strangers = new OpenCounts();
  const parts = { ...options, services, watch };
  const terminals = new TerminalGateway(parts);
  const streams = new StreamGateway(parts);
  return {
    serves({ url, headers }) {
      const known = terminals.isPath(url) || streams.isPath(url);
      return known && headers.upgrade?.toLowerCase() === 'websocket';
    },
    accept(request, socket, head) {
      const gateway = terminals.isPath(request.url) ? terminals : streams;
      const known = strangers.open(networkOf(options.addressOf(request)), {
        perKey: services.policies.get('access.max_unknown_connections_per_address'),
      });
      if (known) {
        socket.once('close', known);
        gateway.accept(request, socket, head, known);
      } else {
        socket.on('error', () => socket.destroy());
        refuseUpgrade(
          socket,
          tooManyStreams('Too many connections of your address wait for a token.'),
          options.publicUrl,
        );
      }
    },
    async close() {
      await watch.close();
      terminals.close();
      streams.close();
    },
  };
}
