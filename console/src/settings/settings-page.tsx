import type { ProjectChoice } from '../api/me.ts';
import { ProjectPage } from '../shell/project-page.tsx';
import { DangerZone } from './danger-zone.tsx';
import { IdentityProvidersPanel } from './identity-providers-panel.tsx';
import { NamePanel } from './name-panel.tsx';
import { ProjectSecretsPanel } from './project-secrets-panel.tsx';
import { ProjectsPanel } from './projects-panel.tsx';

export function SettingsPage() {
  return (
    <ProjectPage
      title="Settings"
      subtitle={({ organization }) => `Name, projects, secrets and sign-in of ${organization.name}`}
    >
      {({ organization, project }) => (
        <Settings key={organization.id} organization={organization} project={project} />
      )}
    </ProjectPage>
  );
}

function Settings({ organization, project }: ProjectChoice) {
  return (
    <>
      <NamePanel organization={organization} />
      <ProjectsPanel organizationId={organization.id} />
      <ProjectSecretsPanel key={project.id} project={project} />
      <IdentityProvidersPanel organizationId={organization.id} />
      <DangerZone organization={organization} />
    </>
  );
}
