import { FolderX } from 'lucide-react';
import type { ReactNode } from 'react';
import { useProject, type ProjectChoice } from '../api/session.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { Page } from '../ui/page.tsx';

interface ProjectPageProps {
  title: string;
  subtitle: (choice: ProjectChoice) => string;
  actions?: (choice: ProjectChoice) => ReactNode;
  children: (choice: ProjectChoice) => ReactNode;
}

/** A page about the chosen project or its organization; people without one are told so. */
export function ProjectPage({ title, subtitle, actions, children }: ProjectPageProps) {
  const choice = useProject();
  if (!choice) {
    return (
      <Page title={title}>
        <EmptyState icon={FolderX} title="You are in no project">
          Ask an administrator of your organization to add you to one.
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
