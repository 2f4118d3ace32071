import { Registry } from 'prom-client';
import {
  openGuest,
  type GuestAccess,
} from '@gpuaas/control-plane/domains/apps/executors/allocation/open-guest';
import { TunnelHub } from '@gpuaas/control-plane/domains/access/tunnel/tunnel-hub';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { StreamMetrics } from '@gpuaas/control-plane/platform/telemetry/stream-metrics';
import type { TestPlatform } from '../platform.ts';
import type { RunnerPlace } from './runner-place.ts';

/** The way of a worker that has no tunnels itself: through the process that the host is connected to. */
export function guestAccess({ services }: Pick<TestPlatform, 'services'>): GuestAccess {
  return {
    services: servicesAsRole(services, 'gpuaas_gateway'),
    hub: new TunnelHub(services.log, new StreamMetrics(new Registry())),
  };
}

/** The machine of an allocation, entered as the platform enters it. */
export function machinePlace(
  platform: Pick<TestPlatform, 'services'>,
  allocationId: string,
  facts: Pick<RunnerPlace, 'listen' | 'disk'>,
): Omit<RunnerPlace, 'close'> {
  const access = guestAccess(platform);
  return { enter: () => openGuest(access, allocationId), ...facts };
}
