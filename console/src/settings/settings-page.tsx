import type { ProjectChoice } from '../api/session.ts';
import { ProjectPage } from '../shell/project-page.tsx';
import { DangerPanel } from './danger-panel.tsx';
import { IdentityProvidersPanel } from './identity-providers-panel.tsx';
import { NamePanel } from './name-panel.tsx';
import { ProjectsPanel } from './projects-panel.tsx';

export function SettingsPage() {
  return (
    <ProjectPage
      title="Settings"
      subtitle={({ organization }) =>
        `Of ${organization.name}: its name, its projects, and how its people sign in.`
      }
    >
      {({ organization }) => <Settings key={organization.id} organization={organization} />}
    </ProjectPage>
  );
}

function Settings({ organization }: Pick<ProjectChoice, 'organization'>) {
  return (
    <>
      <NamePanel organization={organization} />
      <ProjectsPanel organizationId={organization.id} />
      <IdentityProvidersPanel organizationId={organization.id} />
      <DangerPanel organization={organization} />
    </>
  );
}
