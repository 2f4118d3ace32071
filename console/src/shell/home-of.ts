import { mayOnPlatform, projectsOf } from '../api/session.ts';
import type { Me } from '../api/types.ts';

/** Where a person starts: tenants at their overview, operators without a project at the fleet. */
export function homeOf(me: Me): '/overview' | '/operator/fleet' {
  return projectsOf(me).length === 0 && mayOnPlatform(me, 'fleet.read') ? '/operator/fleet' : '/overview';
}
