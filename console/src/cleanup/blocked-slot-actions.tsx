import { useState } from 'react';
import { destroyForeignData, recordWipeProof, retireSlot, retryCleanup } from '../api/allocations/cleanup.ts';
import { fleetKeys, operatorKeys } from '../api/query-keys.ts';
import { usePlatformDisabledReason } from '../api/me.ts';
import type { BlockedSlot } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Button } from '../ui/actions/button.tsx';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { Notice } from '../ui/feedback/notice.tsx';

export function BlockedSlotActions({ blocked: { slot, running } }: { blocked: BlockedSlot }) {
  const [asking, setAsking] = useState<'proof' | 'retire' | 'destroy' | null>(null);
  const refusal = usePlatformDisabledReason('fleet.clean') ?? (running ? 'A wipe is running.' : null);
  const refreshes = [operatorKeys.cleanup, fleetKeys.slots(slot.node_id), fleetKeys.node(slot.node_id)];
  const retry = useRefreshingMutation({ mutationFn: () => retryCleanup(slot.id), refreshes });
  const close = () => setAsking(null);
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      {retry.error && <span className="tone-danger text-xs text-tone-text">{retry.error.message}</span>}
      <Button size="sm" disabledReason={refusal} busy={retry.isPending} onClick={() => retry.mutate()}>
        Retry wipe
      </Button>
      <Button size="sm" variant="danger" disabledReason={refusal} onClick={() => setAsking('destroy')}>
        Wipe foreign data
      </Button>
      <Button size="sm" disabledReason={refusal} onClick={() => setAsking('proof')}>
        Attest wipe
      </Button>
      <Button size="sm" variant="danger" disabledReason={refusal} onClick={() => setAsking('retire')}>
        Retire slot
      </Button>
      {asking === 'destroy' && <DestroyDialog slot={slot} refreshes={refreshes} onClose={close} />}
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

function DestroyDialog({ slot, refreshes, onClose }: DialogProps) {
  const [serial, setSerial] = useState('');
  const destroy = useRefreshingMutation({ mutationFn: destroyForeignData, refreshes, onSuccess: onClose });
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Wipe data of another use?"
      submitLabel="Wipe everything"
      refusal={serial === slot.nvme_serial ? null : `Type the serial number ${slot.nvme_serial}.`}
      busy={destroy.isPending}
      error={destroy.error}
      onSubmit={() => destroy.mutate(slot.id)}
    >
      <Notice tone="warn" title="This data was not written by the lease">
        <p>{slot.health_detail ?? 'The host refused to wipe the disk.'}</p>
        <p>It is destroyed. The host still refuses a disk that is mounted or in use.</p>
      </Notice>
      <Field label="Serial number" value={serial} onChange={setSerial} maxLength={64} />
    </FormDialog>
  );
}

function ProofDialog({ slot, refreshes, onClose }: DialogProps) {
  const [serial, setSerial] = useState('');
  const [method, setMethod] = useState('');
  const [evidence, setEvidence] = useState('');
  const record = useRefreshingMutation({ mutationFn: recordWipeProof, refreshes, onSuccess: onClose });
  const gpu = slot.gpu_serial ? `, its GPU ${slot.gpu_serial}` : '';
  const known = ['', slot.nvme_serial, slot.gpu_serial].includes(serial);
  const serialRefusal = known ? null : `The disk of the slot is ${slot.nvme_serial}${gpu}.`;
  const missing = serial && method && evidence ? null : 'Fill in all fields.';
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Attest a wipe"
      submitLabel="Attest"
      refusal={serialRefusal ?? missing}
      busy={record.isPending}
      error={record.error}
      onSubmit={() => record.mutate({ slotId: slot.id, deviceSerial: serial, method, evidence })}
    >
      <Notice tone="warn" title="You vouch that this device is wiped">
        <p>
          You confirm that the device was wiped by other means. Your name appears on the wipe certificate. The
          slot returns to service when its disk and its GPU are both proven.
        </p>
      </Notice>
      <Field
        label="Serial number"
        value={serial}
        onChange={setSerial}
        maxLength={64}
        refusal={serialRefusal}
        hint={`Read it from the device. Expected: ${slot.nvme_serial}${slot.gpu_serial ? ` or ${slot.gpu_serial}` : ''}.`}
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
  const retire = useRefreshingMutation({ mutationFn: retireSlot, refreshes, onSuccess: onClose });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={`Retire slot ${slot.slot_index}?`}
      submitLabel="Retire slot"
      refusal={reason.trim() ? null : 'Enter a reason.'}
      busy={retire.isPending}
      error={retire.error}
      onSubmit={() => retire.mutate({ slotId: slot.id, reason: reason.trim() })}
    >
      <p className="text-sm text-ink-muted">
        Its GPU and disk {slot.nvme_serial} are taken out of service permanently. To use them again, the slot
        must be repaired and approved.
      </p>
      <Field label="Reason" rows={2} value={reason} onChange={setReason} maxLength={500} />
    </FormDialog>
  );
}
