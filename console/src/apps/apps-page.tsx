import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { PackageX } from 'lucide-react';
import { manifestsQuery } from '../api/apps/manifests.ts';
import { ProjectPage } from '../shell/project-page.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { Surface } from '../ui/surface.tsx';
import { ShowMore } from '../ui/tables/show-more.tsx';
import { AppCard } from './app-card.tsx';

const route = getRouteApi('/signed-in/apps');

/** The apps that can be launched. */
export function AppsPage() {
  const { on } = route.useSearch();
  const query = useInfiniteQuery(manifestsQuery);
  return (
    <ProjectPage
      title="App catalog"
      subtitle={({ project }) => `Launch into an allocation of ${project.name}`}
    >
      {({ project }) => (
        <QueryBoundary query={query} loading={<Skeleton label="Loading apps" />}>
          {(manifests) =>
            manifests.length === 0 ? (
              <NoApps />
            ) : (
              <>
                <ul className="grid gap-4 sm:grid-cols-2 xl:grid-cols-3">
                  {manifests.map((manifest) => (
                    <AppCard key={manifest.slug} manifest={manifest} projectId={project.id} on={on} />
                  ))}
                </ul>
                <ShowMore query={query} />
              </>
            )
          }
        </QueryBoundary>
      )}
    </ProjectPage>
  );
}

function NoApps() {
  return (
    <Surface>
      <EmptyState icon={PackageX} title="No apps yet">
        The operator has not published an app yet.
      </EmptyState>
    </Surface>
  );
}
