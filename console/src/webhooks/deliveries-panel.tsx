import { useInfiniteQuery } from '@tanstack/react-query';
import { projectKeys } from '../api/query-keys.ts';
import { useProjectDisabledReason } from '../api/me.ts';
import type { Webhook, WebhookDelivery } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { deliveriesQuery, replayDelivery } from '../api/organization/webhooks.ts';
import { humanize } from '../format/humanize.ts';
import { Badge } from '../ui/values/badge.tsx';
import { Button } from '../ui/actions/button.tsx';
import { IdText } from '../ui/values/id-text.tsx';
import { Panel } from '../ui/panel.tsx';
import { ProblemNotice } from '../ui/feedback/problem-notice.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import type { Tone } from '../ui/values/tone.ts';

const TONES: Record<WebhookDelivery['state'], Tone> = {
  pending: 'info',
  delivered: 'success',
  failed: 'danger',
};

export function DeliveriesPanel({ webhook }: { webhook: Webhook }) {
  const query = useInfiniteQuery(deliveriesQuery(webhook.id));
  const refusal = useProjectDisabledReason(webhook.project_id, 'webhook.manage');
  const replay = useRefreshingMutation({
    mutationFn: replayDelivery,
    refreshes: [projectKeys.deliveries(webhook.id)],
  });
  return (
    <Panel title={`Deliveries to ${new URL(webhook.url).host}`} flush>
      {replay.error && (
        <div className="p-4">
          <ProblemNotice error={replay.error} />
        </div>
      )}
      <ResourceList
        label="Deliveries"
        query={query}
        rowKey={({ id }) => id}
        empty={<p className="p-4 text-sm text-ink-muted">No deliveries yet</p>}
        columns={[
          {
            header: 'Event',
            cell: (delivery) => (
              <span className="flex flex-col">
                <span className="font-medium">{delivery.event_type}</span>
                {delivery.replay_of && <span className="text-xs text-ink-faint">Redelivery</span>}
              </span>
            ),
          },
          {
            header: 'State',
            cell: ({ state }) => (
              <Badge tone={TONES[state]} moving={state === 'pending'}>
                {humanize(state)}
              </Badge>
            ),
          },
          { header: 'Last attempt', cell: (delivery) => <LastAttempt delivery={delivery} />, from: 'sm' },
          { header: 'Event id', cell: ({ event_id: id }) => <IdText id={id} label="event id" />, from: 'lg' },
          { header: 'Created', cell: ({ created_at: at }) => <Timestamp at={at} as="clock" />, from: 'md' },
          {
            header: 'Actions',
            align: 'right',
            cell: (delivery) => (
              <RowActions>
                <Button
                  size="sm"
                  disabledReason={refusal ?? (delivery.state === 'pending' ? 'Delivery in progress.' : null)}
                  onClick={() => replay.mutate({ webhookId: webhook.id, deliveryId: delivery.id })}
                >
                  Redeliver
                </Button>
              </RowActions>
            ),
          },
        ]}
      />
    </Panel>
  );
}

function LastAttempt({ delivery }: { delivery: WebhookDelivery }) {
  const last = delivery.attempts.at(-1);
  if (!last) return <span className="text-ink-faint">None yet</span>;
  const outcome =
    last.error ?? (last.response_status === null ? 'no response' : `HTTP ${last.response_status}`);
  return (
    <span title={outcome} className="block max-w-64 truncate text-ink-muted">
      {last.attempt}: {outcome}, {last.duration_ms} ms
    </span>
  );
}
