import { ProjectPage } from '../shell/project-page.tsx';
import { LineOfLaunches } from './line-of-launches.tsx';
import { NewReservationButton } from './new-reservation.tsx';
import { ReservationsPanel } from './reservations-panel.tsx';

export function CapacityPage() {
  return (
    <ProjectPage
      title="Queue and reservations"
      subtitle={({ project }) => `What ${project.name} waits for, and what is kept for it.`}
      actions={({ organization, project }) => (
        <NewReservationButton organizationId={organization.id} projectId={project.id} />
      )}
    >
      {({ project }) => (
        <>
          <LineOfLaunches key={`line ${project.id}`} projectId={project.id} />
          <ReservationsPanel key={`kept ${project.id}`} projectId={project.id} />
        </>
      )}
    </ProjectPage>
  );
}
