import {
  hasOrganizationPermission,
  hasPlatformPermission,
  hasProjectPermission,
  type ProjectChoice,
} from '../../api/me.ts';
import type { Me } from '../../api/types.ts';
import { AREAS, type Area, type NavEntry, type NavGroup } from './areas.ts';

/** The areas, groups and pages that a person sees. The API decides what each may do there. */
export function visibleAreas(me: Me, choice: ProjectChoice | null): Area[] {
  return AREAS.map((area) => ({
    ...area,
    groups: area.groups
      .map((group) => ({
        ...group,
        places: group.places.filter((place) => isShown(group.held, place, me, choice)),
      }))
      .filter(({ places }) => places.length > 0),
  })).filter(({ groups }) => groups.length > 0);
}

function isShown(
  held: NavGroup['held'],
  { permission }: NavEntry,
  me: Me,
  choice: ProjectChoice | null,
): boolean {
  if (held === 'platform') return permission !== undefined && hasPlatformPermission(me, permission);
  if (!choice) return false;
  if (!permission) return true;
  if (held === 'project') return hasProjectPermission(me, choice.project.id, permission);
  return hasOrganizationPermission(me, choice.organization.id, permission, held);
}
