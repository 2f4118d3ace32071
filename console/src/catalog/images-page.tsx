import { useInfiniteQuery } from '@tanstack/react-query';
import { Disc3 } from 'lucide-react';
import { useState } from 'react';
import { addImage, adminImagesQuery, blessImage } from '../api/catalog/catalog-admin.ts';
import { catalogKeys, operatorKeys } from '../api/query-keys.ts';
import { usePlatformDisabledReason } from '../api/me.ts';
import type { AdminImage } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { humanize } from '../format/humanize.ts';
import { Badge } from '../ui/values/badge.tsx';
import { Button } from '../ui/actions/button.tsx';
import { CopyButton } from '../ui/actions/copy-button.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { Page } from '../ui/page.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { Select } from '../ui/forms/select.tsx';
import { Surface } from '../ui/surface.tsx';

const COLUMNS: Column<AdminImage>[] = [
  {
    header: 'Image',
    cell: ({ display_name: name, image }) => (
      <span className="flex flex-col">
        <span className="font-medium">{name}</span>
        <code className="font-mono text-xs text-ink-faint">{image}</code>
      </span>
    ),
  },
  { header: 'Digest', cell: ({ digest }) => <Digest digest={digest} />, from: 'md' },
  {
    header: 'Readiness checks',
    cell: ({ readiness_checks: checks }) => (
      <span className="text-ink-muted">{checks.map(humanize).join(', ') || 'SSH login'}</span>
    ),
    from: 'lg',
  },
  { header: 'Actions', cell: (image) => <Bless image={image} />, align: 'right' },
];

export function ImagesPage() {
  const query = useInfiniteQuery(adminImagesQuery);
  return (
    <Page title="Images" subtitle="Machine images. Only approved digests can launch." actions={<NewImage />}>
      <Surface>
        <ResourceList
          label="Images"
          query={query}
          columns={COLUMNS}
          rowKey={({ image }) => image}
          empty={
            <EmptyState icon={Disc3} title="No images yet">
              At least one image is needed to launch.
            </EmptyState>
          }
        />
      </Surface>
    </Page>
  );
}

function Digest({ digest }: { digest: string | null }) {
  if (!digest) return <Badge tone="warn">Not approved</Badge>;
  return (
    <span className="inline-flex items-center gap-1">
      <code title={digest} className="block max-w-48 truncate font-mono text-xs">
        {digest}
      </code>
      <CopyButton value={digest} label="digest" />
    </span>
  );
}

function Bless({ image: { image, display_name: name } }: { image: AdminImage }) {
  const [open, setOpen] = useState(false);
  const [digest, setDigest] = useState('');
  const [reason, setReason] = useState('');
  const refusal = usePlatformDisabledReason('image.bless');
  const bless = useRefreshingMutation({
    mutationFn: blessImage,
    refreshes: [operatorKeys.images, catalogKeys.images],
    onSuccess: () => setOpen(false),
  });
  const wrong = /^sha256:[0-9a-f]{64}$/.test(digest.trim())
    ? null
    : 'Enter sha256: followed by 64 hex digits.';
  return (
    <RowActions>
      <Button size="sm" disabledReason={refusal} onClick={() => setOpen(true)}>
        Approve
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title={`Approve a digest of ${name}`}
        submitLabel="Approve"
        refusal={wrong ?? (reason.trim().length < 3 ? 'Enter a reason.' : null)}
        busy={bless.isPending}
        error={bless.error}
        onSubmit={() => bless.mutate({ image, digest: digest.trim(), reason: reason.trim() })}
      >
        <p className="text-sm text-ink-muted">New launches will use this digest.</p>
        <Field
          label="Digest"
          value={digest}
          onChange={setDigest}
          maxLength={71}
          refusal={digest ? wrong : null}
        />
        <Field label="Reason" rows={2} value={reason} onChange={setReason} maxLength={500} />
      </FormDialog>
    </RowActions>
  );
}

const KINDS = [
  { value: 'base' as const, label: 'Base', hint: 'Drivers only' },
  { value: 'cuda-dev' as const, label: 'CUDA', hint: 'Drivers and the CUDA toolkit' },
];

function NewImage() {
  const [open, setOpen] = useState(false);
  const [image, setImage] = useState('');
  const [name, setName] = useState('');
  const [kind, setKind] = useState<'base' | 'cuda-dev'>('base');
  const refusal = usePlatformDisabledReason('catalog.manage');
  const add = useRefreshingMutation({
    mutationFn: addImage,
    refreshes: [operatorKeys.images],
    onSuccess: () => setOpen(false),
  });
  const missing = image.trim() ? (name.trim() ? null : 'Enter a display name.') : 'Enter an id.';
  return (
    <>
      <Button variant="primary" disabledReason={refusal} onClick={() => setOpen(true)}>
        Add an image
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title="Add an image"
        submitLabel="Add"
        refusal={missing}
        busy={add.isPending}
        error={add.error}
        onSubmit={() =>
          add.mutate({
            image: image.trim(),
            display_name: name.trim(),
            kind,
            readiness_checks: kind === 'cuda-dev' ? ['nvidia_driver', 'cuda_toolkit'] : ['nvidia_driver'],
          })
        }
      >
        <Field label="Id" value={image} onChange={setImage} maxLength={100} placeholder="H200-ubuntu-26.04" />
        <Field label="Name" value={name} onChange={setName} maxLength={100} placeholder="Ubuntu 26.04" />
        <div className="flex flex-col gap-1.5">
          <Select label="Kind" value={kind} onChange={setKind} options={KINDS} />
        </div>
      </FormDialog>
    </>
  );
}
