import type { ReactNode } from 'react';
import type { LaunchChange } from '../search-params.ts';
import { Select } from '../ui/forms/select.tsx';
import { DurationField } from './duration-field.tsx';
import { GpuCountPicker } from './gpu-count-picker.tsx';
import type { Catalog, LaunchChoice } from './launch-choice.ts';
import { NameField } from './name-field.tsx';
import { NetworkNote } from './network-note.tsx';
import { TagsField } from '../allocations/tags/tags-field.tsx';
import { ShapePicker } from './shape-picker.tsx';
import { SshKeyField } from './ssh-key-field.tsx';
import { UserDataField } from './user-data-field.tsx';

interface LaunchFieldsProps {
  projectId: string;
  catalog: Catalog;
  choice: LaunchChoice;
  name: string;
  onName: (name: string) => void;
  tags: string;
  onTags: (tags: string) => void;
  seconds: number | undefined;
  sshKeys: string[];
  onSshKeys: (ids: string[]) => void;
  userData: string;
  onUserData: (text: string) => void;
  onChange: (next: LaunchChange) => void;
}

export function LaunchFields(props: LaunchFieldsProps) {
  const { projectId, catalog, choice, name, onName, tags, onTags, seconds, sshKeys, onSshKeys, onChange } =
    props;
  const { userData, onUserData } = props;
  const { sku, region, image } = choice;
  const alike = catalog.skus.filter(({ capacity_shape: shape }) => shape === sku.capacity_shape);
  return (
    <div className="flex min-w-0 flex-col rounded-lg border border-line bg-surface">
      <Group>
        <ShapePicker skus={catalog.skus} chosen={sku} onChange={onChange} />
        {alike.length > 1 && (
          <Select
            label="Product"
            value={sku.sku}
            onChange={(next) => onChange({ sku: next, gpus: undefined })}
            options={alike.map((known) => ({ value: known.sku, label: known.display_name }))}
          />
        )}
      </Group>
      <Group>
        <GpuCountPicker choice={choice} onChange={(gpus) => onChange({ gpus })} />
        <p className="text-sm text-ink-muted">
          {sku.gpu_model}, {sku.resource_profile.vcpu_per_gpu} vCPU and{' '}
          {sku.resource_profile.memory_gib_per_gpu} GiB memory with each GPU.
        </p>
      </Group>
      <Group columns>
        <div className="flex flex-col gap-1.5">
          <Select
            label="Region"
            value={region}
            onChange={(next) => onChange({ region: next })}
            options={catalog.regions.map((known) => ({
              value: known.region,
              label: known.display_name,
              hint: known.region,
              disabledReason: known.status === 'coming' ? 'Coming soon' : null,
            }))}
          />
        </div>
        <div className="flex flex-col gap-1.5">
          <Select
            label="Image"
            value={image.image}
            onChange={(next) => onChange({ image: next })}
            options={catalog.images.map((known) => ({
              value: known.image,
              label: known.display_name,
              hint: known.kind === 'cuda-dev' ? 'Drivers and the CUDA toolkit' : 'Drivers only',
            }))}
          />
        </div>
      </Group>
      <Group>
        <SshKeyField projectId={projectId} chosen={sshKeys} onChange={onSshKeys} />
      </Group>
      <Group>
        <NetworkNote />
      </Group>
      <Group columns>
        <NameField value={name} onChange={onName} />
        <TagsField value={tags} onChange={onTags} />
        <DurationField seconds={seconds} onChange={(next) => onChange({ seconds: next })} />
      </Group>
      {sku.capacity_shape === 'gpu_slice' && (
        <Group>
          <UserDataField value={userData} onChange={onUserData} />
        </Group>
      )}
    </div>
  );
}

function Group({ children, columns }: { children: ReactNode; columns?: boolean }) {
  return (
    <div
      className={`gap-4 border-b border-line p-4 last:border-0 sm:p-5 ${columns ? 'grid sm:grid-cols-2' : 'flex flex-col'}`}
    >
      {children}
    </div>
  );
}
