import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import type { NavigateOptions } from '@tanstack/react-router';
import { Boxes, FolderOpen, Rocket, Server, type LucideIcon } from 'lucide-react';
import { allocationKeys, fleetKeys } from '../api/query-keys.ts';
import { projectsOf, type ProjectChoice } from '../api/me.ts';
import type { Allocation, Me, Node } from '../api/types.ts';
import { OWN_PAGES } from './navigation/own-pages.ts';
import { visibleAreas } from './navigation/visible-areas.ts';

export interface Command {
  label: string;
  /** Kind of the target. */
  hint: string;
  icon: LucideIcon;
  go: NavigateOptions;
}

/** Pages, projects, and the allocations and hosts that were loaded already. */
export function commandsFor(me: Me, choice: ProjectChoice | null, queryClient: QueryClient): Command[] {
  const places = visibleAreas(me, choice).flatMap(({ title, groups }) =>
    groups.flatMap(({ places: inGroup }) =>
      inGroup.map(({ to, label, icon }): Command => ({ label, hint: title, icon, go: { to } })),
    ),
  );
  const own = OWN_PAGES.map(({ to, label, icon }): Command => ({ label, hint: 'You', icon, go: { to } }));
  const launch: Command[] = choice
    ? [{ label: 'Launch', hint: 'Project', icon: Rocket, go: { to: '/launch' } }]
    : [];
  const projects = projectsOf(me)
    .filter(({ project }) => project.id !== choice?.project.id)
    .map(({ project, organization }): Command => ({
      label: `${project.name}, ${organization.name}`,
      hint: 'Switch project',
      icon: FolderOpen,
      go: { to: '/overview', search: { project: project.id } },
    }));
  const allocations = choice
    ? known<Allocation>(queryClient, allocationKeys.list(choice.project.id)).map(({ id, name }): Command => ({
        label: name,
        hint: 'Allocation',
        icon: Boxes,
        go: { to: '/allocations/$allocationId', params: { allocationId: id } },
      }))
    : [];
  const nodes = known<Node>(queryClient, fleetKeys.nodes).map(({ id, hostname }): Command => ({
    label: hostname,
    hint: 'Host',
    icon: Server,
    go: { to: '/operator/nodes/$nodeId', params: { nodeId: id } },
  }));
  return [...places, ...launch, ...own, ...projects, ...allocations, ...nodes];
}

/** Each resource once, from all loaded lists. */
function known<Item extends { id: string }>(queryClient: QueryClient, key: readonly string[]): Item[] {
  const lists = queryClient.getQueriesData<InfiniteData<{ items: Item[] }>>({ queryKey: key });
  const items = lists.flatMap(([, data]) => data?.pages.flatMap((page) => page.items) ?? []);
  return [...new Map(items.map((item) => [item.id, item])).values()];
}
