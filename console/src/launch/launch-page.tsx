import { useQuery } from '@tanstack/react-query';
import { FolderX, PackageX } from 'lucide-react';
import { imagesQuery, regionsQuery, skusQuery } from '../api/catalog.ts';
import { useProject } from '../api/session.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { LaunchForm } from './launch-form.tsx';

export function LaunchPage() {
  const choice = useProject();
  const skus = useQuery(skusQuery);
  const regions = useQuery(regionsQuery);
  const images = useQuery(imagesQuery);
  const loading = <Skeleton label="Loading what can be launched" rows={6} />;
  if (!choice) {
    return (
      <Page title="Launch">
        <EmptyState icon={FolderX} title="You are in no project">
          A launch is billed to a project. Ask an administrator of your organization to add you to one.
        </EmptyState>
      </Page>
    );
  }
  return (
    <Page
      title="Launch a GPU slice"
      tabTitle="Launch"
      subtitle={`In ${choice.project.name}, ${choice.organization.name}`}
    >
      <Loaded query={skus} loading={loading}>
        {(skuItems) => (
          <Loaded query={regions} loading={loading}>
            {(regionItems) => (
              <Loaded query={images} loading={loading}>
                {(imageItems) => {
                  const slices = skuItems.filter(({ capacity_shape: shape }) => shape === 'gpu_slice');
                  return slices.length > 0 && imageItems.length > 0 ? (
                    <LaunchForm
                      projectId={choice.project.id}
                      skus={slices}
                      regions={regionItems}
                      images={imageItems}
                    />
                  ) : (
                    <NothingForSale />
                  );
                }}
              </Loaded>
            )}
          </Loaded>
        )}
      </Loaded>
    </Page>
  );
}

function NothingForSale() {
  return (
    <div className="rounded-lg border border-line bg-surface">
      <EmptyState icon={PackageX} title="Nothing is for sale yet">
        The operator has not opened a GPU slice product with an image to start from.
      </EmptyState>
    </div>
  );
}
