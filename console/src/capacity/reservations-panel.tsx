import { useInfiniteQuery } from '@tanstack/react-query';
import { CalendarClock } from 'lucide-react';
import { projectKeys } from '../api/query-keys.ts';
import { cancelReservation, reservationsQuery } from '../api/allocations/reservations.ts';
import { useProjectDisabledReason } from '../api/me.ts';
import type { Reservation } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { pluralize } from '../format/humanize.ts';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { RESERVATION_COLUMNS } from './reservation-columns.tsx';

export function ReservationsPanel({ projectId }: { projectId: string }) {
  const query = useInfiniteQuery(reservationsQuery(projectId));
  return (
    <Panel title="Reservations" flush>
      <ResourceList
        label="Reservations"
        query={query}
        columns={[
          ...RESERVATION_COLUMNS,
          { header: 'Actions', cell: (kept) => <Cancel reservation={kept} />, align: 'right' },
        ]}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={CalendarClock} title="No reservations yet">
            Reserve whole hosts for this project for a period. No one else can use them then.
          </EmptyState>
        }
      />
    </Panel>
  );
}

function Cancel({ reservation }: { reservation: Reservation }) {
  const refusal = useProjectDisabledReason(reservation.project_id, 'reservation.manage');
  const cancel = useRefreshingMutation({
    mutationFn: () => cancelReservation(reservation.id),
    refreshes: [projectKeys.reservations(reservation.project_id)],
  });
  if (!['upcoming', 'active'].includes(reservation.state)) return null;
  return (
    <RowActions>
      <ConfirmButton
        label="Cancel reservation"
        title="Cancel this reservation?"
        confirmLabel="Cancel reservation"
        disabledReason={refusal}
        act={cancel}
      >
        {pluralize(reservation.node_count, 'host')} will be available to others immediately. Your running
        machines are not affected.
      </ConfirmButton>
    </RowActions>
  );
}
