import { useQuery } from '@tanstack/react-query';
import { PackageX } from 'lucide-react';
import { imagesQuery, regionsQuery, skusQuery } from '../api/catalog.ts';
import { ProjectPage } from '../shell/project-page.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
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
  const loading = <Skeleton label="Loading what can be launched" rows={6} />;
  return (
    <Loaded query={skus} loading={loading}>
      {(skuItems) => (
        <Loaded query={regions} loading={loading}>
          {(regionItems) => (
            <Loaded query={images} loading={loading}>
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
            </Loaded>
          )}
        </Loaded>
      )}
    </Loaded>
  );
}

function NothingForSale() {
  return (
    <Surface>
      <EmptyState icon={PackageX} title="Nothing is for sale yet">
        The operator has not opened a product with an image to start from.
      </EmptyState>
    </Surface>
  );
}
