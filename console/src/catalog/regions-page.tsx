import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { addRegion, setRegionStatus } from '../api/catalog/catalog-admin.ts';
import { regionsQuery } from '../api/catalog/catalog.ts';
import { catalogKeys } from '../api/query-keys.ts';
import { usePlatformDisabledReason } from '../api/me.ts';
import type { Region } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Badge } from '../ui/values/badge.tsx';
import { Button } from '../ui/actions/button.tsx';
import { DataTable, type Column } from '../ui/tables/data-table.tsx';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Page } from '../ui/page.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { Surface } from '../ui/surface.tsx';
import { NameAndId, OpenOrClose } from './open-or-close.tsx';

const COLUMNS: Column<Region>[] = [
  {
    header: 'Region',
    cell: ({ display_name: name, region }) => <NameAndId name={name} id={region} />,
  },
  {
    header: 'State',
    cell: ({ status }) => (
      <Badge tone={status === 'enabled' ? 'success' : 'neutral'}>
        {status === 'enabled' ? 'Open' : 'Coming soon'}
      </Badge>
    ),
  },
  { header: 'Actions', cell: (region) => <OpenOrCloseRegion region={region} />, align: 'right' },
];

export function RegionsPage() {
  const query = useQuery(regionsQuery);
  return (
    <Page
      title="Regions"
      subtitle="Data-center regions. Tenants see coming regions but cannot launch there."
      actions={<NewRegion />}
    >
      <Surface>
        <QueryBoundary query={query} loading={<Skeleton label="Loading regions" />}>
          {(regions) => (
            <DataTable label="Regions" columns={COLUMNS} rows={regions} rowKey={({ region }) => region} />
          )}
        </QueryBoundary>
      </Surface>
    </Page>
  );
}

function OpenOrCloseRegion({ region: { region, display_name: name, status } }: { region: Region }) {
  const open = status === 'enabled';
  const change = useRefreshingMutation({
    mutationFn: () => setRegionStatus({ region, status: open ? 'coming' : 'enabled' }),
    refreshes: [catalogKeys.regions, catalogKeys.skus],
  });
  return <OpenOrClose name={name} open={open} change={change} />;
}

function NewRegion() {
  const [open, setOpen] = useState(false);
  const [region, setRegion] = useState('');
  const [name, setName] = useState('');
  const refusal = usePlatformDisabledReason('catalog.manage');
  const add = useRefreshingMutation({
    mutationFn: addRegion,
    refreshes: [catalogKeys.regions],
    onSuccess: () => setOpen(false),
  });
  const missing = region.trim() ? (name.trim() ? null : 'Enter a display name.') : 'Enter an id.';
  return (
    <>
      <Button variant="primary" disabledReason={refusal} onClick={() => setOpen(true)}>
        Add a region
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title="Add a region"
        submitLabel="Add"
        refusal={missing}
        busy={add.isPending}
        error={add.error}
        onSubmit={() => add.mutate({ region: region.trim(), display_name: name.trim() })}
      >
        <Field label="Id" value={region} onChange={setRegion} maxLength={40} placeholder="eu-west-1" />
        <Field label="Name" value={name} onChange={setName} maxLength={100} placeholder="EU West" />
      </FormDialog>
    </>
  );
}
