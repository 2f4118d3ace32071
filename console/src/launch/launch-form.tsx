import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { launchAllocation } from '../api/allocations.ts';
import { retryUnlessRefused } from '../api/query-client.ts';
import { allocationKeys, catalogKeys } from '../api/query-keys.ts';
import { mayInProject, useMe } from '../api/session.ts';
import { launchChoice, countRefusal, type Catalog } from './launch-choice.ts';
import { LaunchFields } from './launch-fields.tsx';
import { LaunchSummary } from './launch-summary.tsx';
import { nameRefusal } from './name-field.tsx';

const route = getRouteApi('/signed-in/launch');

interface LaunchFormProps extends Catalog {
  projectId: string;
}

export function LaunchForm({ projectId, ...catalog }: LaunchFormProps) {
  const search = route.useSearch();
  const setSearch = route.useNavigate();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const me = useMe();
  const [name, setName] = useState('');
  const choice = launchChoice(search, catalog);

  const launch = useMutation({
    mutationFn: launchAllocation,
    // Safe, because every try sends the key that was made with the click.
    retry: retryUnlessRefused,
    onSuccess: (allocation) => {
      queryClient.setQueryData(allocationKeys.one(allocation.id), allocation);
      void navigate({ to: '/allocations/$allocationId', params: { allocationId: allocation.id } });
    },
    // Whoever took the last GPUs moved the stock as well.
    onError: () => queryClient.invalidateQueries({ queryKey: catalogKeys.skus }),
  });

  if (!choice) return null;
  const { sku, region, image, gpus, largestSlice } = choice;
  const refusal = mayInProject(me, projectId, 'allocation.create')
    ? region === null
      ? 'No region is open yet.'
      : (countRefusal(gpus, largestSlice) ?? nameRefusal(name))
    : 'You lack the permission allocation.create in this project.';

  const change = (next: typeof search) => {
    launch.reset();
    void setSearch({ search: (old) => ({ ...old, ...next }), replace: true });
  };
  const submit = () => {
    if (refusal || launch.isPending || region === null) return;
    launch.mutate({
      body: {
        project_id: projectId,
        sku: sku.sku,
        gpu_count: gpus,
        image: image.image,
        region,
        ...(name ? { name } : {}),
      },
      idempotencyKey: crypto.randomUUID(),
    });
  };

  return (
    <form
      className="grid items-start gap-4 lg:grid-cols-[1fr_20rem]"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <LaunchFields catalog={catalog} choice={choice} name={name} onName={setName} onChange={change} />
      <LaunchSummary
        choice={choice}
        refusal={refusal}
        busy={launch.isPending}
        error={launch.error}
        onGpuCount={(count) => change({ gpus: count })}
      />
    </form>
  );
}
