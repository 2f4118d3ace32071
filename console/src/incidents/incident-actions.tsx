import { useState } from 'react';
import { acknowledgeIncident, resolveIncident } from '../api/operations/incidents.ts';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformDisabledReason } from '../api/me.ts';
import type { Incident } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Button } from '../ui/actions/button.tsx';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';

export function IncidentActions({ incident }: { incident: Incident }) {
  const [resolving, setResolving] = useState(false);
  const [resolution, setResolution] = useState('');
  const permission = usePlatformDisabledReason('incident.manage');
  const refreshes = [operatorKeys.incidents];
  const acknowledge = useRefreshingMutation({ mutationFn: acknowledgeIncident, refreshes });
  const resolve = useRefreshingMutation({
    mutationFn: resolveIncident,
    refreshes,
    onSuccess: () => setResolving(false),
  });
  const over = incident.state === 'resolved' ? 'Already resolved.' : null;
  const known = incident.state === 'acknowledged' ? 'Already acknowledged.' : null;
  return (
    <>
      <Button
        disabledReason={permission ?? over ?? known}
        busy={acknowledge.isPending}
        onClick={() => acknowledge.mutate(incident.id)}
      >
        Acknowledge
      </Button>
      <Button variant="primary" disabledReason={permission ?? over} onClick={() => setResolving(true)}>
        Resolve
      </Button>
      <FormDialog
        open={resolving}
        onClose={() => setResolving(false)}
        title="Resolve the incident"
        submitLabel="Resolve"
        refusal={resolution.trim() ? null : 'Describe what was done.'}
        busy={resolve.isPending}
        error={resolve.error}
        onSubmit={() => resolve.mutate({ id: incident.id, resolution: resolution.trim() })}
      >
        <Field
          label="Resolution"
          rows={3}
          value={resolution}
          onChange={setResolution}
          maxLength={1000}
          hint="A new incident opens if the cause persists."
        />
      </FormDialog>
    </>
  );
}
