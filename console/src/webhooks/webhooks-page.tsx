import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Webhook as WebhookIcon } from 'lucide-react';
import type { Webhook } from '../api/types.ts';
import { webhooksQuery } from '../api/organization/webhooks.ts';
import { ProjectPage } from '../shell/project-page.tsx';
import { Badge } from '../ui/values/badge.tsx';
import { ROW_LINK_CLASS, type Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { Surface } from '../ui/surface.tsx';
import { RelativeTime } from '../ui/values/timestamp.tsx';
import { DeliveriesPanel } from './deliveries-panel.tsx';
import { NewWebhook } from './new-webhook.tsx';
import { WebhookActions } from './webhook-actions.tsx';

const route = getRouteApi('/signed-in/organization/webhooks');

const COLUMNS: Column<Webhook>[] = [
  {
    header: 'Address',
    cell: ({ id, url }) => (
      <Link to="/organization/webhooks" search={{ webhook: id }} className={ROW_LINK_CLASS}>
        <span className="block max-w-72 truncate">{url}</span>
      </Link>
    ),
  },
  {
    header: 'State',
    cell: ({ state, disabled_reason: reason, failing_since: failing }) => (
      <span title={reason ?? undefined} className="inline-flex items-center gap-2">
        <Badge tone={state === 'disabled' ? 'danger' : failing ? 'warn' : 'success'}>
          {state === 'disabled' ? 'Disabled' : failing ? 'Failing' : 'Enabled'}
        </Badge>
        {failing && (
          <span className="text-xs text-ink-faint">
            since <RelativeTime since={failing} />
          </span>
        )}
      </span>
    ),
  },
  {
    header: 'Events',
    cell: ({ event_types: types }) => (
      <span title={types.join(', ')} className="text-ink-muted">
        {types.length === 0 ? 'All' : types.length === 1 ? types[0] : `${types.length} types`}
      </span>
    ),
    from: 'lg',
  },
  { header: 'Actions', cell: (webhook) => <WebhookActions webhook={webhook} />, align: 'right', from: 'md' },
];

export function WebhooksPage() {
  return (
    <ProjectPage
      title="Webhooks"
      subtitle={({ project }) => `Signed HTTP callbacks for events in ${project.name}`}
      actions={({ project }) => <NewWebhook projectId={project.id} />}
    >
      {({ project }) => <Webhooks projectId={project.id} />}
    </ProjectPage>
  );
}

function Webhooks({ projectId }: { projectId: string }) {
  const query = useInfiniteQuery(webhooksQuery(projectId));
  const { webhook: chosenId } = route.useSearch();
  const chosen = query.data?.find(({ id }) => id === chosenId);
  return (
    <>
      <Surface>
        <ResourceList
          label="Webhooks"
          query={query}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={WebhookIcon} title="No webhooks yet">
              Add a URL to be called for launches, releases and failures.
            </EmptyState>
          }
        />
      </Surface>
      {chosen && <DeliveriesPanel key={chosen.id} webhook={chosen} />}
    </>
  );
}
