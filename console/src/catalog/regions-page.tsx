import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { addRegion, setRegionStatus } from '../api/catalog-admin.ts';
import { regionsQuery } from '../api/catalog.ts';
import { catalogKeys } from '../api/query-keys.ts';
import { usePlatformRefusal } from '../api/session.ts';
import type { Region } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { RowActions } from '../ui/row-actions.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Surface } from '../ui/surface.tsx';

const COLUMNS: Column<Region>[] = [
  {
    header: 'Region',
    cell: ({ display_name: name, region }) => (
      <span className="flex flex-col">
        <span className="font-medium">{name}</span>
        <code className="font-mono text-xs text-ink-faint">{region}</code>
      </span>
    ),
  },
  {
    header: 'State',
    cell: ({ status }) => (
      <Badge tone={status === 'enabled' ? 'success' : 'neutral'}>
        {status === 'enabled' ? 'Open' : 'Coming'}
      </Badge>
    ),
  },
  { header: 'Actions', cell: (region) => <OpenOrClose region={region} />, align: 'right' },
];

export function RegionsPage() {
  const query = useQuery(regionsQuery);
  return (
    <Page
      title="Regions"
      subtitle="Where machines stand. A coming region is shown to tenants and takes no launches."
      actions={<NewRegion />}
    >
      <Surface>
        <Loaded query={query} loading={<Skeleton label="Loading regions" />}>
          {(regions) => (
            <DataTable label="Regions" columns={COLUMNS} rows={regions} rowKey={({ region }) => region} />
          )}
        </Loaded>
      </Surface>
    </Page>
  );
}

function OpenOrClose({ region: { region, display_name: name, status } }: { region: Region }) {
  const refusal = usePlatformRefusal('catalog.manage');
  const open = status === 'enabled';
  const change = useChange({
    mutationFn: () => setRegionStatus({ region, status: open ? 'coming' : 'enabled' }),
    refreshes: [catalogKeys.regions, catalogKeys.skus],
  });
  return (
    <RowActions>
      {open ? (
        <ConfirmButton
          label="Close"
          title={`Close ${name}?`}
          confirmLabel="Close"
          disabledReason={refusal}
          act={change}
        >
          Nobody can launch there any more. What runs goes on, and it can be opened again.
        </ConfirmButton>
      ) : (
        <Button size="sm" disabledReason={refusal} busy={change.isPending} onClick={() => change.mutate()}>
          Open
        </Button>
      )}
    </RowActions>
  );
}

function NewRegion() {
  const [open, setOpen] = useState(false);
  const [region, setRegion] = useState('');
  const [name, setName] = useState('');
  const refusal = usePlatformRefusal('catalog.manage');
  const add = useChange({
    mutationFn: addRegion,
    refreshes: [catalogKeys.regions],
    onSuccess: () => setOpen(false),
  });
  const missing = region.trim() ? (name.trim() ? null : 'Give it a name for people.') : 'Give it an id.';
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
