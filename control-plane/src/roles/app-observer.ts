import { keepPlatformDoors } from '../domains/apps/platform-door/keep-doors.ts';
import { startObserver } from '../domains/apps/runtime/observer.ts';
import { servicesAsRole } from '../platform/db/scope.ts';
import type { RepeatHandle } from '../platform/repeat.ts';
import type { PlatformServices } from './domain-answers.ts';

/**
 * Looks at the members of app instances and lets those that may call the platform, under the role that may enter guests.
 * `apiUrl` is where their calls go.
 */
export function startAppObserver(base: PlatformServices, apiUrl: string): RepeatHandle {
  const services = servicesAsRole(base, 'gpuaas_app_runtime');
  const loops = [startObserver(services), keepPlatformDoors(services, apiUrl)];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
