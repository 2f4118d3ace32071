import { ProjectPage } from '../shell/project-page.tsx';
import { LaunchQueue } from './launch-queue.tsx';
import { NewReservationButton } from './new-reservation.tsx';
import { ReservationsPanel } from './reservations-panel.tsx';

export function CapacityPage() {
  return (
    <ProjectPage
      title="Queue and reservations"
      subtitle={({ project }) => `Queued launches and reserved hosts of ${project.name}`}
      actions={({ organization, project }) => (
        <NewReservationButton organizationId={organization.id} projectId={project.id} />
      )}
    >
      {({ project }) => (
        <>
          <LaunchQueue key={`line ${project.id}`} projectId={project.id} />
          <ReservationsPanel key={`kept ${project.id}`} projectId={project.id} />
        </>
      )}
    </ProjectPage>
  );
}
