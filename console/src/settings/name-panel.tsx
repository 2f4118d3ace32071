import { useState } from 'react';
import { ME_KEY } from '../api/query-keys.ts';
import { useOrganizationRefusal, type ProjectChoice } from '../api/session.ts';
import { renameOrganization } from '../api/settings.ts';
import { useChange } from '../api/use-change.ts';
import { Button } from '../ui/button.tsx';
import { Fact, Facts, LongName } from '../ui/facts.tsx';
import { Field } from '../ui/field.tsx';
import { Panel } from '../ui/panel.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';

export function NamePanel({ organization }: Pick<ProjectChoice, 'organization'>) {
  const [name, setName] = useState(organization.name);
  const refusal = useOrganizationRefusal(organization.id, 'organization.manage');
  const rename = useChange({ mutationFn: renameOrganization, refreshes: [ME_KEY] });
  const same = name.trim() === organization.name ? 'It is called so already.' : null;
  return (
    <Panel title="Organization">
      <div className="flex flex-col gap-4">
        <form
          className="flex flex-wrap items-end gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            if (!refusal && !same && name.trim()) rename.mutate({ id: organization.id, name: name.trim() });
          }}
        >
          <div className="w-full max-w-md">
            <Field label="Name" value={name} onChange={setName} maxLength={200} />
          </div>
          <Button
            type="submit"
            className="h-9!"
            busy={rename.isPending}
            disabledReason={refusal ?? same ?? (name.trim() ? null : 'Give it a name.')}
          >
            Rename
          </Button>
        </form>
        {rename.error && <ProblemNotice error={rename.error} />}
        <Facts>
          <Fact name="Id" copy={organization.id}>
            <LongName>{organization.id}</LongName>
          </Fact>
          <Fact name="Resource name" copy={organization.resource_name}>
            <LongName>{organization.resource_name}</LongName>
          </Fact>
        </Facts>
      </div>
    </Panel>
  );
}
