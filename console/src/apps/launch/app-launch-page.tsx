import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { dryRunQuery, manifestQuery } from '../../api/apps/manifests.ts';
import { instanceQuery } from '../../api/apps/instances.ts';
import { skusQuery } from '../../api/catalog/catalog.ts';
import { useProject, type ProjectChoice } from '../../api/me.ts';
import type { AppManifest } from '../../api/types.ts';
import { ProjectPage } from '../../shell/project-page.tsx';
import { NotFound } from '../../ui/feedback/not-found.tsx';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { AppLaunchForm } from './app-launch-form.tsx';

const route = getRouteApi('/signed-in/apps/$appSlug');

/** The launch of an app into an allocation of the project. */
export function AppLaunchPage() {
  const { appSlug } = route.useParams();
  const query = useQuery(manifestQuery(appSlug));
  const projectId = useProject()?.project.id;
  return (
    <QueryBoundary
      query={query}
      loading={<Skeleton label="Loading the app" />}
      missing={<NotFound what="app" />}
    >
      {(manifest) => (
        <ProjectPage
          title={`Launch ${manifest.version.display_name}`}
          subtitle={() => manifest.version.description ?? ''}
        >
          {(choice) => <Launch key={`${appSlug} ${projectId}`} manifest={manifest} choice={choice} />}
        </ProjectPage>
      )}
    </QueryBoundary>
  );
}

function Launch({ manifest, choice }: { manifest: AppManifest; choice: ProjectChoice }) {
  const { on, retry_of: retryOf } = route.useSearch();
  const dryRun = useQuery(dryRunQuery(manifest.slug, choice.project.id));
  const skus = useQuery(skusQuery(choice.organization.id));
  const former = useQuery({ ...instanceQuery(retryOf ?? ''), enabled: retryOf !== undefined });
  const loading = <Skeleton label="Loading allocations" rows={6} />;
  const form = (retried: typeof former.data | null) => (
    <QueryBoundary query={dryRun} loading={loading}>
      {(judged) => (
        <QueryBoundary query={skus} loading={loading}>
          {(items) => (
            <AppLaunchForm
              projectId={choice.project.id}
              manifest={manifest}
              dryRun={judged}
              skus={items}
              on={on}
              former={retried ?? null}
            />
          )}
        </QueryBoundary>
      )}
    </QueryBoundary>
  );
  if (retryOf === undefined) return form(null);
  return (
    <QueryBoundary query={former} loading={loading} missing={<NotFound what="workload" />}>
      {form}
    </QueryBoundary>
  );
}
