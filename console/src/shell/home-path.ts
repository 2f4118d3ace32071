import { hasPlatformPermission, projectsOf } from '../api/me.ts';
import type { Me } from '../api/types.ts';

/** Where a person starts: tenants at their overview, operators without a project at the fleet. */
export function homePath(me: Me): '/overview' | '/operator/fleet' {
  return projectsOf(me).length === 0 && hasPlatformPermission(me, 'fleet.read')
    ? '/operator/fleet'
    : '/overview';
}
