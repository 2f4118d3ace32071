import { useState } from 'react';
import { recordWipeProof, retireSlot, retryCleanup } from '../api/cleanup.ts';
import { fleetKeys, operatorKeys } from '../api/query-keys.ts';
import { usePlatformRefusal } from '../api/session.ts';
import type { BlockedSlot } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Notice } from '../ui/notice.tsx';

export function BlockedSlotActions({ blocked: { slot, running } }: { blocked: BlockedSlot }) {
  const [asking, setAsking] = useState<'proof' | 'retire' | null>(null);
  const refusal =
    usePlatformRefusal('fleet.clean') ?? (running ? 'The host is cleaning it right now.' : null);
  const refreshes = [operatorKeys.cleanup, fleetKeys.slots(slot.node_id), fleetKeys.node(slot.node_id)];
  const retry = useChange({ mutationFn: () => retryCleanup(slot.id), refreshes });
  const close = () => setAsking(null);
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      {retry.error && <span className="tone-danger text-xs text-tone-text">{retry.error.message}</span>}
      <Button size="sm" disabledReason={refusal} busy={retry.isPending} onClick={() => retry.mutate()}>
        Clean again
      </Button>
      <Button size="sm" disabledReason={refusal} onClick={() => setAsking('proof')}>
        Record proof
      </Button>
      <Button size="sm" variant="danger" disabledReason={refusal} onClick={() => setAsking('retire')}>
        Retire
      </Button>
      {asking === 'proof' && <ProofDialog slot={slot} refreshes={refreshes} onClose={close} />}
      {asking === 'retire' && <RetireDialog slot={slot} refreshes={refreshes} onClose={close} />}
    </span>
  );
}

interface DialogProps {
  slot: BlockedSlot['slot'];
  refreshes: (readonly unknown[])[];
  onClose: () => void;
}

function ProofDialog({ slot, refreshes, onClose }: DialogProps) {
  const [serial, setSerial] = useState('');
  const [method, setMethod] = useState('');
  const [evidence, setEvidence] = useState('');
  const record = useChange({ mutationFn: recordWipeProof, refreshes, onSuccess: onClose });
  const serialRefusal =
    serial === '' || serial === slot.nvme_serial ? null : `The disk of the slot is ${slot.nvme_serial}.`;
  const missing = serial && method && evidence ? null : 'Fill in all three.';
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Record a proof of wiping"
      submitLabel="Record and free the slot"
      refusal={serialRefusal ?? missing}
      busy={record.isPending}
      error={record.error}
      onSubmit={() => record.mutate({ slotId: slot.id, deviceSerial: serial, method, evidence })}
    >
      <Notice tone="warn" title="The slot is sold again on your word">
        <p>You state that the disk was wiped by other means. Your name stands in the wipe certificate.</p>
      </Notice>
      <Field
        label="Serial of the wiped disk"
        value={serial}
        onChange={setSerial}
        maxLength={64}
        refusal={serialRefusal}
        hint={`Type it from the device; the slot has ${slot.nvme_serial}.`}
      />
      <Field
        label="Method"
        value={method}
        onChange={setMethod}
        maxLength={64}
        placeholder="nvme format -s1"
      />
      <Field label="Evidence" rows={4} value={evidence} onChange={setEvidence} maxLength={2000} />
    </FormDialog>
  );
}

function RetireDialog({ slot, refreshes, onClose }: DialogProps) {
  const [reason, setReason] = useState('');
  const retire = useChange({ mutationFn: retireSlot, refreshes, onSuccess: onClose });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={`Retire slot ${slot.slot_index}?`}
      submitLabel="Retire"
      refusal={reason.trim() ? null : 'Give the reason.'}
      busy={retire.isPending}
      error={retire.error}
      onSubmit={() => retire.mutate({ slotId: slot.id, reason: reason.trim() })}
    >
      <p className="text-sm text-ink-muted">
        Its GPU and disk {slot.nvme_serial} are taken out of sale for good and the host has one slot less. To
        sell them again the slot has to be repaired and approved anew.
      </p>
      <Field label="Reason" rows={2} value={reason} onChange={setReason} maxLength={500} />
    </FormDialog>
  );
}
