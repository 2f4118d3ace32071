import type { IncomingMessage } from 'node:http';
import type { EventTail } from '../../../platform/events/tail.ts';
import type { Services } from '../../../platform/services.ts';
import type { StreamMetrics } from '../../../platform/telemetry/stream-metrics.ts';
import { AccessWatch } from '../access-watch.ts';
import type { TunnelHub } from '../tunnel/tunnel-hub.ts';
import type { AppDirectory } from './app-directory.ts';
import { AppGateway } from './app-gateway.ts';
import type { AppsSite } from './app-host.ts';
import { AppOriginDoor } from './app-origin-door.ts';
import { AppPathDoor } from './app-path-door.ts';
import { RequestMeter } from './request-meter.ts';

export interface OpenAppGateway {
  /** For browsers and programs at the apps' own host names. */
  origins: AppOriginDoor;
  /** For programs at the console's address. */
  paths: AppPathDoor;
  /** Cuts every visit and stores the counts. */
  close(): Promise<void>;
}

/** The way into apps of one process. `services` are the gateway's. */
export function openAppGateway(
  services: Services,
  options: {
    hub: TunnelHub;
    tail: EventTail;
    apps: AppDirectory;
    metrics: StreamMetrics;
    site: AppsSite;
    consoleUrl: string;
    addressOf(request: IncomingMessage): string;
  },
): OpenAppGateway {
  const watch = new AccessWatch(services, options.tail);
  const meter = new RequestMeter(services);
  const gateway = new AppGateway({ ...options, services, watch, meter });
  return {
    origins: new AppOriginDoor(gateway, options.consoleUrl),
    paths: new AppPathDoor(gateway),
    async close() {
      await watch.close();
      await gateway.close();
      await meter.close();
    },
  };
}
