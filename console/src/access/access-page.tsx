import { ProjectPage } from '../shell/project-page.tsx';
import { BindingsPanel } from './bindings-panel.tsx';
import { GroupsPanel } from './groups-panel.tsx';

export function AccessPage() {
  return (
    <ProjectPage
      title="Permissions"
      subtitle={({ organization }) => `Permission groups in ${organization.name} and who has them`}
    >
      {({ organization }) => (
        <>
          <BindingsPanel organization={organization} />
          <GroupsPanel organizationId={organization.id} />
        </>
      )}
    </ProjectPage>
  );
}
