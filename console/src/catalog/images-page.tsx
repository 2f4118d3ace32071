import { useInfiniteQuery } from '@tanstack/react-query';
import { Disc3 } from 'lucide-react';
import { useState } from 'react';
import { addImage, adminImagesQuery, blessImage } from '../api/catalog-admin.ts';
import { catalogKeys, operatorKeys } from '../api/query-keys.ts';
import { usePlatformRefusal } from '../api/session.ts';
import type { AdminImage } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { inWords } from '../format/words.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import type { Column } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Page } from '../ui/page.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { RowActions } from '../ui/row-actions.tsx';
import { Select } from '../ui/select.tsx';
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
    header: 'Ready when it shows',
    cell: ({ readiness_checks: checks }) => (
      <span className="text-ink-muted">{checks.map(inWords).join(', ') || 'A login'}</span>
    ),
    from: 'lg',
  },
  { header: 'Actions', cell: (image) => <Bless image={image} />, align: 'right' },
];

export function ImagesPage() {
  const query = useInfiniteQuery(adminImagesQuery);
  return (
    <Page
      title="Images"
      subtitle="What machines start from. Only a digest somebody vouched for is launched."
      actions={<NewImage />}
    >
      <Surface>
        <ResourceList
          label="Images"
          query={query}
          columns={COLUMNS}
          rowKey={({ image }) => image}
          empty={
            <EmptyState icon={Disc3} title="There is no image">
              Nothing can be launched without one.
            </EmptyState>
          }
        />
      </Surface>
    </Page>
  );
}

function Digest({ digest }: { digest: string | null }) {
  if (!digest) return <Badge tone="warn">Not blessed</Badge>;
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
  const refusal = usePlatformRefusal('image.bless');
  const bless = useChange({
    mutationFn: blessImage,
    refreshes: [operatorKeys.images, catalogKeys.images],
    onSuccess: () => setOpen(false),
  });
  const wrong = /^sha256:[0-9a-f]{64}$/.test(digest.trim()) ? null : 'A digest is sha256: and 64 hex digits.';
  return (
    <RowActions>
      <Button size="sm" disabledReason={refusal} onClick={() => setOpen(true)}>
        Bless
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title={`Vouch for a digest of ${name}`}
        submitLabel="Bless"
        refusal={wrong ?? (reason.trim().length < 3 ? 'Say why.' : null)}
        busy={bless.isPending}
        error={bless.error}
        onSubmit={() => bless.mutate({ image, digest: digest.trim(), reason: reason.trim() })}
      >
        <p className="text-sm text-ink-muted">Every launch of it uses this digest from now on.</p>
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
  const refusal = usePlatformRefusal('catalog.manage');
  const add = useChange({
    mutationFn: addImage,
    refreshes: [operatorKeys.images],
    onSuccess: () => setOpen(false),
  });
  const missing = image.trim() ? (name.trim() ? null : 'Give it a name for people.') : 'Give it an id.';
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
