import { useInfiniteQuery } from '@tanstack/react-query';
import { CalendarClock } from 'lucide-react';
import { projectKeys } from '../api/query-keys.ts';
import { cancelReservation, reservationsQuery } from '../api/reservations.ts';
import { useProjectRefusal } from '../api/session.ts';
import type { Reservation } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { counted } from '../format/words.ts';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { RowActions } from '../ui/row-actions.tsx';
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
          <EmptyState icon={CalendarClock} title="Nothing is reserved">
            Whole hosts can be kept for this project and a time. Nobody else's lease then reaches into it.
          </EmptyState>
        }
      />
    </Panel>
  );
}

function Cancel({ reservation }: { reservation: Reservation }) {
  const refusal = useProjectRefusal(reservation.project_id, 'reservation.manage');
  const cancel = useChange({
    mutationFn: () => cancelReservation(reservation.id),
    refreshes: [projectKeys.reservations(reservation.project_id)],
  });
  if (reservation.state === 'over' || reservation.state === 'cancelled') return null;
  return (
    <RowActions>
      <ConfirmButton
        label="Give up"
        title="Give up what is kept?"
        confirmLabel="Give up"
        disabledReason={refusal}
        act={cancel}
      >
        {counted(reservation.node_count, 'host')} go back to everybody at once. What you run on them goes on.
      </ConfirmButton>
    </RowActions>
  );
}
