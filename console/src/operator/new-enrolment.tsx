import { useState } from 'react';
import { createEnrolment } from '../api/fleet/node-identity.ts';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformDisabledReason } from '../api/me.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Button } from '../ui/actions/button.tsx';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { SecretDialog } from '../ui/forms/secret-dialog.tsx';
import { useHostLocation } from './host-location.tsx';

/** Where agents dial by default; see the settings of the platform. */
const NODE_PORT = 8443;

export function NewEnrolment() {
  const [open, setOpen] = useState(false);
  const [hostname, setHostname] = useState('');
  const where = useHostLocation();
  const refusal = usePlatformDisabledReason('fleet.enrol');
  const mint = useRefreshingMutation({
    mutationFn: createEnrolment,
    refreshes: [operatorKeys.enrolments],
    onSuccess: () => setOpen(false),
  });
  const token = mint.data?.token ?? null;
  const host = hostname.trim();
  return (
    <>
      <Button variant="primary" disabledReason={refusal} onClick={() => setOpen(true)}>
        Enrol a host
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title="Enrol a host"
        submitLabel="Create token"
        refusal={where.refusal}
        busy={mint.isPending}
        error={mint.error}
        onSubmit={() => where.place && mint.mutate({ ...where.place, ...(host ? { hostname: host } : {}) })}
      >
        <Field
          label="Host name"
          optional
          hint="Restricts the token to this host. Leave empty for any new host."
          value={hostname}
          onChange={setHostname}
          maxLength={63}
          placeholder="gpu-a1-07"
        />
        {where.fields}
      </FormDialog>
      <SecretDialog
        secret={token && installCommand(host, token)}
        title={`Run this on ${host || 'the host'}`}
        label="Install command"
        onClose={() => {
          mint.reset();
          setHostname('');
        }}
      >
        <p className="text-sm text-ink-muted">
          The token works once. Adjust the address if hosts reach the node port by another name. The host then
          appears under Nodes; approve its topology to put it into service.
        </p>
      </SecretDialog>
    </>
  );
}

function installCommand(hostname: string, token: string): string {
  const server = `https://${location.hostname}:${NODE_PORT}`;
  const named = hostname ? ` --hostname ${hostname}` : '';
  return `sudo gpuaas-node-agent install --server ${server}${named} --token ${token}`;
}
