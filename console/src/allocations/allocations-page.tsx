import { LaunchLink } from '../shell/launch-link.tsx';
import { ProjectPage } from '../shell/project-page.tsx';
import { AllocationsTable } from './allocations-table.tsx';

export function AllocationsPage() {
  return (
    <ProjectPage
      title="Allocations"
      subtitle={({ project, organization }) => `${project.name}, ${organization.name}`}
      actions={({ project }) => <LaunchLink projectId={project.id} />}
    >
      {({ project }) => <AllocationsTable key={project.id} projectId={project.id} />}
    </ProjectPage>
  );
}
