import { useInfiniteQuery } from '@tanstack/react-query';
import { projectsQuery } from '../api/organization/settings.ts';
import type { Team } from '../api/types.ts';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { IdText } from '../ui/values/id-text.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';

export function TeamProjectsPanel({ team }: { team: Team }) {
  const query = useInfiniteQuery(projectsQuery(team.organization_id, team.id));
  return (
    <Panel title={`Projects of ${team.name}`} flush>
      <ResourceList
        label={`Projects of ${team.name}`}
        query={query}
        rowKey={({ id }) => id}
        empty={<p className="p-4 text-sm text-ink-muted">No projects</p>}
        columns={[
          { header: 'Project', cell: ({ name }) => <span className="font-medium">{name}</span> },
          { header: 'Id', cell: ({ id }) => <IdText id={id} label="project id" />, from: 'sm' },
          { header: 'Since', cell: ({ created_at: at }) => <Timestamp at={at} />, from: 'md' },
        ]}
      />
    </Panel>
  );
}
