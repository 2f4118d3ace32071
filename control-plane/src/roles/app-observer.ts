import { startObserver } from '../domains/apps/runtime/observer.ts';
import { servicesAsRole } from '../platform/db/scope.ts';
import type { RepeatHandle } from '../platform/repeat.ts';
import type { PlatformServices } from './domain-answers.ts';

/** Looks at the members of app instances, under the role that may enter guests. */
export function startAppObserver(base: PlatformServices): RepeatHandle {
  return startObserver(servicesAsRole(base, 'gpuaas_app_runtime'));
}
