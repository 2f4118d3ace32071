import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { regionsQuery } from '../api/catalog/catalog.ts';
import { explainQuery, type TrialLaunch } from '../api/allocations/placements.ts';
import { productsQuery } from '../api/catalog/products.ts';
import type { AdminSku, Region } from '../api/types.ts';
import { pluralize } from '../format/humanize.ts';
import { placementSearch, type PlacementSearch } from '../search-params.ts';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Page } from '../ui/page.tsx';
import { Select } from '../ui/forms/select.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { ExplanationPanel } from './explanation-panel.tsx';

const route = getRouteApi('/signed-in/operator/placement');
const LASTS = [
  { value: 'open', label: 'No end time' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '1 week' },
];

/**
 * Shows where a launch would be placed and why every other host is rejected. Decides like a launch and
 * changes nothing.
 */
export function PlacementPage() {
  const products = useInfiniteQuery(productsQuery);
  const regions = useQuery(regionsQuery);
  const loading = <Skeleton label="Loading products" />;
  return (
    <Page
      title="Placement"
      subtitle="Simulate a launch and see why each host fits or not. Nothing is changed."
    >
      <QueryBoundary query={products} loading={loading}>
        {(skus) => (
          <QueryBoundary query={regions} loading={loading}>
            {(known) => <WhatIfForm skus={skus} regions={known} />}
          </QueryBoundary>
        )}
      </QueryBoundary>
    </Page>
  );
}

function WhatIfForm({ skus, regions }: { skus: AdminSku[]; regions: Region[] }) {
  const { project: _project, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const sku =
    skus.find((known) => known.sku === search.sku) ?? skus.find(({ enabled }) => enabled) ?? skus[0];
  const region = regions.find((known) => known.region === search.region) ?? regions[0];
  const change = (next: { [Name in keyof PlacementSearch]?: PlacementSearch[Name] | undefined }) =>
    void navigate({ search: (old) => placementSearch({ ...old, ...next }), replace: true });
  if (!sku || !region) return <p className="text-sm text-ink-muted">No products or regions yet.</p>;
  const counts = sku.allowed_gpu_counts;
  const gpus = counts.find((count) => count === search.gpus) ?? counts[0] ?? 1;
  const asked: TrialLaunch = {
    sku: sku.sku,
    gpu_count: gpus,
    region: region.region,
    ...(search.seconds ? { max_duration_seconds: search.seconds } : {}),
  };
  return (
    <>
      <div className="grid items-end gap-3 sm:grid-cols-2 lg:grid-cols-4">
        <Choice
          label="Product"
          value={sku.sku}
          onChange={(next) => change({ sku: next, gpus: undefined })}
          options={skus.map((known) => ({ value: known.sku, label: known.display_name }))}
        />
        <Choice
          label="GPUs"
          value={String(gpus)}
          onChange={(next) => change({ gpus: Number(next) })}
          options={counts.map((count) => ({ value: String(count), label: pluralize(count, 'GPU') }))}
        />
        <Choice
          label="Region"
          value={region.region}
          onChange={(next) => change({ region: next })}
          options={regions.map((known) => ({ value: known.region, label: known.display_name }))}
        />
        <Choice
          label="Duration"
          value={search.seconds ? String(search.seconds) : 'open'}
          onChange={(next) => change({ seconds: next === 'open' ? undefined : Number(next) })}
          options={LASTS}
        />
      </div>
      <Explained asked={asked} />
    </>
  );
}

function Explained({ asked }: { asked: TrialLaunch }) {
  const query = useQuery(explainQuery(asked));
  return (
    <QueryBoundary query={query} loading={<Skeleton label="Loading the explanation" />}>
      {(explanation) => <ExplanationPanel explanation={explanation} />}
    </QueryBoundary>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  options: { value: string; label: string }[];
}

function Choice(props: ChoiceProps) {
  return (
    <div className="flex flex-col gap-1.5">
      <Select {...props} />
    </div>
  );
}
