import { FolderX } from 'lucide-react';
import type { ReactNode } from 'react';
import { useProject, type ProjectChoice } from '../api/me.ts';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Page } from '../ui/page.tsx';

interface ProjectPageProps {
  title: string;
  subtitle: (choice: ProjectChoice) => string;
  actions?: (choice: ProjectChoice) => ReactNode;
  children: (choice: ProjectChoice) => ReactNode;
}

/** A page about the chosen project or its organization; without one it says so. */
export function ProjectPage({ title, subtitle, actions, children }: ProjectPageProps) {
  const choice = useProject();
  if (!choice) {
    return (
      <Page title={title}>
        <EmptyState icon={FolderX} title="No project yet">
          Ask an admin of your organization to add you to a project.
        </EmptyState>
      </Page>
    );
  }
  return (
    <Page title={title} subtitle={subtitle(choice)} actions={actions?.(choice)}>
      {children(choice)}
    </Page>
  );
}
