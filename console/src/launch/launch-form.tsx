import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { sshKeysQuery } from '../api/account/own.ts';
import { launchAllocation } from '../api/allocations/allocations.ts';
import { shouldRetry } from '../api/query-client.ts';
import { allocationKeys, catalogKeys } from '../api/query-keys.ts';
import { hasProjectPermission, useMe } from '../api/me.ts';
import { launchSearch, type LaunchChange } from '../search-params.ts';
import { gpuCountError, launchChoice, findSku, type Catalog } from './launch-choice.ts';
import { EquivalentPanel } from './equivalent-panel.tsx';
import { LaunchFields } from './launch-fields.tsx';
import { LaunchSummary } from './launch-summary.tsx';
import { nameError } from './name-field.tsx';
import { userDataError } from './user-data-field.tsx';
import { parseTags, tagsError } from '../allocations/tags/tags.ts';

/** The contract takes no more keys. */
const MAX_KEYS = 20;
const route = getRouteApi('/signed-in/launch');

interface LaunchFormProps extends Catalog {
  organizationId: string;
  projectId: string;
}

export function LaunchForm({ organizationId, projectId, ...catalog }: LaunchFormProps) {
  const search = route.useSearch();
  const setSearch = route.useNavigate();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const me = useMe();
  const [name, setName] = useState('');
  const [tags, setTags] = useState('');
  const [chosenKeys, setSshKeys] = useState<string[] | null>(null);
  const [userData, setUserData] = useState('');
  // All of the person's own keys unless they choose, as in the CLI.
  const ownKeys = useInfiniteQuery(sshKeysQuery(null)).data ?? [];
  const sshKeys = chosenKeys ?? ownKeys.slice(0, MAX_KEYS).map(({ id }) => id);
  const choice = launchChoice(search, catalog);

  const launch = useMutation({
    mutationFn: launchAllocation,
    // Safe, because every attempt sends the idempotency key of the click.
    retry: shouldRetry,
    onSuccess: (allocation) => {
      queryClient.setQueryData(allocationKeys.one(allocation.id), allocation);
      void navigate({ to: '/allocations/$allocationId', params: { allocationId: allocation.id } });
    },
    // The stock or the price has changed since it was read.
    onError: () => queryClient.invalidateQueries({ queryKey: catalogKeys.skus }),
  });

  if (!choice) return null;
  const { sku, region, image, gpus } = choice;
  const full = gpuCountError(gpus, choice);
  const impossible = hasProjectPermission(me, projectId, 'allocation.create')
    ? region === null
      ? 'No region available yet.'
      : (nameError(name) ?? tagsError(tags) ?? userDataError(userData))
    : 'Requires allocation.create in this project';
  const slice = findSku(catalog.skus, 'gpu_slice', sku.gpu_model);
  const sliceRoom = slice?.availability.find((stock) => stock.region === region)?.largest_slice ?? 0;
  const instead = sku.capacity_shape === 'baremetal' && slice && sliceRoom > 0 ? { slice, sliceRoom } : null;
  const request = region !== null && {
    sku: sku.sku,
    gpu_count: gpus,
    region,
    project_id: projectId,
    ...(search.seconds ? { max_duration_seconds: search.seconds } : {}),
  };
  const body = request && {
    ...request,
    image: image.image,
    expected_price_per_gpu_hour: choice.perGpuHour,
    ...(name ? { name } : {}),
    ...(parseTags(tags).length > 0 ? { tags: parseTags(tags) } : {}),
    ...(sshKeys.length > 0 ? { ssh_key_ids: sshKeys } : {}),
    // A whole host is leased as it runs.
    ...(userData && sku.capacity_shape === 'gpu_slice' ? { user_data: userData } : {}),
  };

  const change = (next: LaunchChange) => {
    launch.reset();
    void setSearch({ search: (old) => launchSearch({ ...old, ...next }), replace: true });
  };
  const submit = (whenUnavailable: 'fail' | 'queue') => {
    if (impossible || launch.isPending || !body) return;
    if (full && whenUnavailable === 'fail') return;
    const queue = whenUnavailable === 'queue' ? { when_unavailable: whenUnavailable } : {};
    launch.mutate({ body: { ...body, ...queue }, idempotencyKey: crypto.randomUUID() });
  };

  return (
    <form
      className="grid items-start gap-4 lg:grid-cols-[1fr_20rem]"
      onSubmit={(event) => {
        event.preventDefault();
        submit('fail');
      }}
    >
      <div className="flex min-w-0 flex-col gap-4">
        <LaunchFields
          projectId={projectId}
          catalog={catalog}
          choice={choice}
          seconds={search.seconds}
          name={name}
          onName={setName}
          tags={tags}
          onTags={setTags}
          sshKeys={sshKeys}
          onSshKeys={setSshKeys}
          userData={userData}
          onUserData={setUserData}
          onChange={change}
        />
        {body && <EquivalentPanel body={body} />}
      </div>
      <LaunchSummary
        organizationId={organizationId}
        choice={choice}
        request={request || null}
        refusal={impossible ?? full}
        queueRefusal={impossible}
        full={full !== null}
        busy={launch.isPending}
        error={launch.error}
        onGpuCount={(count) => change({ gpus: count })}
        onSlice={instead && (() => change({ sku: instead.slice.sku, gpus: instead.sliceRoom }))}
        onQueue={() => submit('queue')}
      />
    </form>
  );
}
