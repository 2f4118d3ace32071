import { useState } from 'react';
import { acknowledgeIncident, resolveIncident } from '../api/incidents.ts';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformRefusal } from '../api/session.ts';
import type { Incident } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';

export function IncidentActions({ incident }: { incident: Incident }) {
  const [resolving, setResolving] = useState(false);
  const [resolution, setResolution] = useState('');
  const permission = usePlatformRefusal('incident.manage');
  const refreshes = [operatorKeys.incidents];
  const acknowledge = useChange({ mutationFn: acknowledgeIncident, refreshes });
  const resolve = useChange({
    mutationFn: resolveIncident,
    refreshes,
    onSuccess: () => setResolving(false),
  });
  const over = incident.state === 'resolved' ? 'It is resolved.' : null;
  const known = incident.state === 'acknowledged' ? 'Somebody works on it already.' : null;
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
        refusal={resolution.trim() ? null : 'Say what was done about it.'}
        busy={resolve.isPending}
        error={resolve.error}
        onSubmit={() => resolve.mutate({ id: incident.id, resolution: resolution.trim() })}
      >
        <Field
          label="What was done"
          rows={3}
          value={resolution}
          onChange={setResolution}
          maxLength={1000}
          hint="If the cause is still there, the platform opens a new incident."
        />
      </FormDialog>
    </>
  );
}
