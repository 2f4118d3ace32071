import { mayOnPlatform, projectsOf } from '../api/session.ts';
import type { Me } from '../api/types.ts';

/** Where a person starts: tenants at their allocations, operators without a project at the fleet. */
export function homeOf(me: Me): '/allocations' | '/operator/nodes' {
  return projectsOf(me).length === 0 && mayOnPlatform(me, 'fleet.read') ? '/operator/nodes' : '/allocations';
}
