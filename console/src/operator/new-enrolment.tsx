import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { regionsQuery } from '../api/catalog.ts';
import { mintEnrolment } from '../api/node-identity.ts';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformRefusal } from '../api/session.ts';
import { useChange } from '../api/use-change.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { SecretDialog } from '../ui/secret-dialog.tsx';
import { Select } from '../ui/select.tsx';

/** Where agents dial by default; see the settings of the platform. */
const NODE_PORT = 8443;

export function NewEnrolment() {
  const [open, setOpen] = useState(false);
  const [hostname, setHostname] = useState('');
  const [rack, setRack] = useState('');
  const [chosen, setRegion] = useState<string | null>(null);
  const refusal = usePlatformRefusal('fleet.enrol');
  const regions = useQuery(regionsQuery).data ?? [];
  const region = chosen ?? regions[0]?.region ?? null;
  const mint = useChange({
    mutationFn: mintEnrolment,
    refreshes: [operatorKeys.enrolments],
    onSuccess: () => setOpen(false),
  });
  const token = mint.data?.token ?? null;
  const missing = region ? null : 'Choose a region.';
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
        refusal={missing}
        busy={mint.isPending}
        error={mint.error}
        onSubmit={() =>
          region &&
          mint.mutate({
            region,
            ...(host ? { hostname: host } : {}),
            ...(rack.trim() ? { rack: rack.trim() } : {}),
          })
        }
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
        <div className="flex flex-col gap-1.5">
          <Select
            label="Region"
            value={region}
            onChange={setRegion}
            options={regions.map((known) => ({
              value: known.region,
              label: known.display_name,
              hint: known.region,
            }))}
          />
        </div>
        <Field label="Rack" optional value={rack} onChange={setRack} maxLength={64} placeholder="rack-a1" />
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
