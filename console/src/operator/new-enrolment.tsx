import { useState } from 'react';
import { mintEnrolment } from '../api/node-identity.ts';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformRefusal } from '../api/session.ts';
import { useChange } from '../api/use-change.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { SecretDialog } from '../ui/secret-dialog.tsx';
import { useHostPlace } from './host-place.tsx';

/** Where agents dial by default; see the settings of the platform. */
const NODE_PORT = 8443;

export function NewEnrolment() {
  const [open, setOpen] = useState(false);
  const [hostname, setHostname] = useState('');
  const where = useHostPlace();
  const refusal = usePlatformRefusal('fleet.enrol');
  const mint = useChange({
    mutationFn: mintEnrolment,
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
        submitLabel="Mint token"
        refusal={where.refusal}
        busy={mint.isPending}
        error={mint.error}
        onSubmit={() => where.place && mint.mutate({ ...where.place, ...(host ? { hostname: host } : {}) })}
      >
        <Field
          label="Host name"
          optional
          hint="With a name only that host can use the token; without one any new host can."
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
          The token in it works once. Change the address where hosts reach the node port by another name.
          After it ran, the host appears under Nodes; sell nothing of it before its topology is approved.
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
