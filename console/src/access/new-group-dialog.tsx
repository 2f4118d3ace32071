import { useState } from 'react';
import { createPermissionGroup } from '../api/organization/access.ts';
import { organizationKeys } from '../api/query-keys.ts';
import type { PermissionGroup } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { Select } from '../ui/forms/select.tsx';

interface NewGroupDialogProps {
  organizationId: string;
  groups: PermissionGroup[];
  onClose: () => void;
}

/** A group of the organization's own, mostly a known one with some permissions less or more. */
export function NewGroupDialog({ organizationId, groups, onClose }: NewGroupDialogProps) {
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [template, setTemplate] = useState<string | null>(null);
  const known = [...new Set(groups.flatMap(({ permissions }) => permissions))].sort();
  const make = useRefreshingMutation({
    mutationFn: createPermissionGroup,
    refreshes: [organizationKeys.groups(organizationId)],
    onSuccess: onClose,
  });
  const refusal = name.trim()
    ? chosen.size > 0
      ? null
      : 'Choose at least one permission.'
    : 'Enter a name.';
  const toggle = (permission: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(permission);
    else next.delete(permission);
    setChosen(next);
  };
  return (
    <FormDialog
      open
      onClose={onClose}
      title="New permission group"
      submitLabel="Create permission group"
      refusal={refusal}
      busy={make.isPending}
      error={make.error}
      onSubmit={() => make.mutate({ organization_id: organizationId, name, permissions: [...chosen] })}
    >
      <Field label="Name" value={name} onChange={setName} maxLength={64} placeholder="Launchers" />
      <div className="flex flex-col gap-1.5">
        <Select
          label="Start from"
          value={template}
          placeholder="Empty"
          onChange={(id) => {
            setTemplate(id);
            setChosen(new Set(groups.find((group) => group.id === id)?.permissions));
          }}
          options={groups.map((group) => ({ value: group.id, label: group.name }))}
        />
      </div>
      <fieldset className="flex flex-col gap-1.5">
        <legend className="pb-1.5 text-sm font-medium">Permissions</legend>
        <div className="grid max-h-60 gap-1 overflow-y-auto rounded-md border border-line p-2 sm:grid-cols-2">
          {known.map((permission) => (
            <label key={permission} className="flex items-center gap-2 font-mono text-xs">
              <input
                type="checkbox"
                checked={chosen.has(permission)}
                onChange={({ target }) => toggle(permission, target.checked)}
              />
              {permission}
            </label>
          ))}
        </div>
      </fieldset>
    </FormDialog>
  );
}
