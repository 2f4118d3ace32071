import { useQuery } from '@tanstack/react-query';
import { PackageX } from 'lucide-react';
import { imagesQuery, regionsQuery, skusQuery } from '../api/catalog/catalog.ts';
import { ProjectPage } from '../shell/project-page.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { Surface } from '../ui/surface.tsx';
import { LaunchForm } from './launch-form.tsx';

export function LaunchPage() {
  return (
    <ProjectPage
      title="Launch"
      subtitle={({ project, organization }) => `In ${project.name}, ${organization.name}`}
    >
      {({ organization, project }) => <Wizard organizationId={organization.id} projectId={project.id} />}
    </ProjectPage>
  );
}

function Wizard({ organizationId, projectId }: { organizationId: string; projectId: string }) {
  const skus = useQuery(skusQuery(organizationId));
  const regions = useQuery(regionsQuery);
  const images = useQuery(imagesQuery);
  const loading = <Skeleton label="Loading products" rows={6} />;
  return (
    <QueryBoundary query={skus} loading={loading}>
      {(skuItems) => (
        <QueryBoundary query={regions} loading={loading}>
          {(regionItems) => (
            <QueryBoundary query={images} loading={loading}>
              {(imageItems) =>
                skuItems.length > 0 && imageItems.length > 0 ? (
                  <LaunchForm
                    organizationId={organizationId}
                    projectId={projectId}
                    skus={skuItems}
                    regions={regionItems}
                    images={imageItems}
                  />
                ) : (
                  <NothingForSale />
                )
              }
            </QueryBoundary>
          )}
        </QueryBoundary>
      )}
    </QueryBoundary>
  );
}

function NothingForSale() {
  return (
    <Surface>
      <EmptyState icon={PackageX} title="No products available yet">
        The operator has not published a product with an image yet.
      </EmptyState>
    </Surface>
  );
}
