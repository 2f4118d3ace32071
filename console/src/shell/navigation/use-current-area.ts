import { useRouterState } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useProject } from '../../api/me.ts';
import type { Me } from '../../api/types.ts';
import type { Area } from './areas.ts';
import { visibleAreas } from './visible-areas.ts';
import { whereIs, type Here } from './where-is.ts';

/** The areas of a person, the one that is open, and the page's place in it. A page outside the areas keeps the last one. */
export function useCurrentArea(me: Me): { areas: Area[]; current: Area | undefined; here: Here | null } {
  const areas = visibleAreas(me, useProject());
  const pathname = useRouterState({ select: ({ location }) => location.pathname });
  const here = whereIs(areas, pathname);
  const [last, setLast] = useState<string | null>(null);
  const name = here?.area.area ?? last;
  useEffect(() => {
    if (name) setLast(name);
  }, [name]);
  return { areas, current: areas.find(({ area }) => area === name) ?? areas[0], here };
}
