import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { ProjectPage } from '../shell/project-page.tsx';
import { buttonClass } from '../ui/actions/button-class.ts';
import { WorkloadsTable } from './workloads-table.tsx';

/** Everything that the project runs. */
export function WorkloadsPage() {
  return (
    <ProjectPage
      title="Workloads"
      subtitle={({ project, organization }) => `${project.name}, ${organization.name}`}
      actions={() => (
        <Link to="/apps" className={buttonClass({ variant: 'primary' })}>
          <Plus aria-hidden className="size-4" />
          Launch an app
        </Link>
      )}
    >
      {({ project }) => <WorkloadsTable key={project.id} projectId={project.id} />}
    </ProjectPage>
  );
}
