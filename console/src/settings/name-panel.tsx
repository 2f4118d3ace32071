import { useState } from 'react';
import { ME_KEY } from '../api/query-keys.ts';
import { useOrganizationDisabledReason, type ProjectChoice } from '../api/me.ts';
import { renameOrganization } from '../api/organization/settings.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Button } from '../ui/actions/button.tsx';
import { Fact, Facts, TruncatedName } from '../ui/values/facts.tsx';
import { Field } from '../ui/forms/field.tsx';
import { Panel } from '../ui/panel.tsx';
import { ProblemNotice } from '../ui/feedback/problem-notice.tsx';

export function NamePanel({ organization }: Pick<ProjectChoice, 'organization'>) {
  const [name, setName] = useState(organization.name);
  const refusal = useOrganizationDisabledReason(organization.id, 'organization.manage');
  const rename = useRefreshingMutation({ mutationFn: renameOrganization, refreshes: [ME_KEY] });
  const same = name.trim() === organization.name ? 'Name unchanged.' : null;
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
            disabledReason={refusal ?? same ?? (name.trim() ? null : 'Enter a name.')}
          >
            Rename
          </Button>
        </form>
        {rename.error && <ProblemNotice error={rename.error} />}
        <Facts>
          <Fact name="Id" copy={organization.id}>
            <TruncatedName>{organization.id}</TruncatedName>
          </Fact>
          <Fact name="Resource name" copy={organization.resource_name}>
            <TruncatedName>{organization.resource_name}</TruncatedName>
          </Fact>
        </Facts>
      </div>
    </Panel>
  );
}
