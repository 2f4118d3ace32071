import { Link } from '@tanstack/react-router';
import { FolderX, Plus } from 'lucide-react';
import { mayInProject, useMe, useProject } from '../api/session.ts';
import { Button } from '../ui/button.tsx';
import { buttonClass } from '../ui/button-class.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { AllocationsTable } from './allocations-table.tsx';

export function AllocationsPage() {
  const choice = useProject();
  return (
    <Page
      title="Allocations"
      subtitle={choice?.project.name}
      actions={choice && <LaunchLink projectId={choice.project.id} />}
    >
      <div className="overflow-hidden rounded-lg border border-line bg-surface">
        {choice ? (
          <AllocationsTable key={choice.project.id} projectId={choice.project.id} />
        ) : (
          <EmptyState icon={FolderX} title="You are in no project">
            Allocations belong to a project. Ask an administrator of your organization to add you to one.
          </EmptyState>
        )}
      </div>
    </Page>
  );
}

function LaunchLink({ projectId }: { projectId: string }) {
  const me = useMe();
  if (!mayInProject(me, projectId, 'allocation.create')) {
    return (
      <Button variant="primary" disabledReason="You lack the permission allocation.create in this project.">
        Launch
      </Button>
    );
  }
  return (
    <Link to="/launch" className={buttonClass({ variant: 'primary' })}>
      <Plus aria-hidden className="size-4" />
      Launch
    </Link>
  );
}
