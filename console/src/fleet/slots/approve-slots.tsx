import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { approveSlots, slotsQuery } from '../../api/fleet/fleet.ts';
import { fleetKeys } from '../../api/query-keys.ts';
import { hasPlatformPermission, useMe } from '../../api/me.ts';
import type { ResourceSlot, TopologyDiscovery, WipePolicy } from '../../api/types.ts';
import { pluralize } from '../../format/humanize.ts';
import { Button } from '../../ui/actions/button.tsx';
import { ProblemNotice } from '../../ui/feedback/problem-notice.tsx';
import { Select, type SelectOption } from '../../ui/forms/select.tsx';

const WIPE_POLICIES: SelectOption<WipePolicy>[] = [
  { value: 'blkdiscard', label: 'blkdiscard', hint: 'Discard all blocks and verify' },
  { value: 'nvme_format', label: 'nvme_format', hint: 'NVMe secure erase and verify' },
  { value: 'nvme_sanitize', label: 'nvme_sanitize', hint: 'NVMe block erase of the whole drive and verify' },
  { value: 'overwrite', label: 'overwrite', hint: 'Write zeroes over the whole disk and verify' },
];

interface ApproveSlotsProps {
  nodeId: string;
  discovery: TopologyDiscovery;
}

/** Turns candidates into slots that can be leased. Approval releases their disks to be wiped. */
export function ApproveSlots({ nodeId, discovery: { task, approval } }: ApproveSlotsProps) {
  const [wipePolicy, setWipePolicy] = useState<WipePolicy | null>(null);
  const queryClient = useQueryClient();
  const me = useMe();
  const approved = useQuery(slotsQuery(nodeId)).data ?? [];
  const slotIndexes = approval
    .filter(({ rules }) => rules.every(({ breach }) => breach === null))
    .map(({ slot_index: index }) => index)
    .filter((index) => !approved.some((slot) => slot.slot_index === index && !mayBeApprovedAgain(slot)));
  const approve = useMutation({
    mutationFn: approveSlots,
    onSuccess: () => {
      for (const queryKey of [fleetKeys.slots(nodeId), fleetKeys.node(nodeId), fleetKeys.nodes]) {
        void queryClient.invalidateQueries({ queryKey });
      }
    },
  });
  const refusal = approvalRefusal(hasPlatformPermission(me, 'fleet.approve'), slotIndexes.length, wipePolicy);
  return (
    <div className="flex flex-col gap-3 border-t border-line p-4">
      <div className="flex flex-wrap items-end gap-3">
        <div className="flex w-60 flex-col gap-1.5">
          <Select
            label="Wipe policy"
            options={WIPE_POLICIES}
            value={wipePolicy}
            placeholder="Choose a wipe method"
            onChange={setWipePolicy}
          />
        </div>
        <Button
          variant="primary"
          className="h-9"
          disabledReason={refusal}
          busy={approve.isPending}
          onClick={() =>
            wipePolicy && approve.mutate({ nodeId, discoveryTaskId: task.id, slotIndexes, wipePolicy })
          }
        >
          {slotIndexes.length > 0 ? `Approve all ${slotIndexes.length}` : 'Approve all'}
        </Button>
      </div>
      <p className="text-xs text-ink-muted">
        {slotIndexes.length > 0
          ? `All data on the NVMe disks of ${pluralize(slotIndexes.length, 'slot')} will be destroyed.`
          : 'All eligible candidates are already approved.'}
      </p>
      {approve.error && <ProblemNotice error={approve.error} />}
    </div>
  );
}

function mayBeApprovedAgain({ state, desired_state }: ResourceSlot): boolean {
  return state === 'disabled' && desired_state !== 'retired';
}

function approvalRefusal(permitted: boolean, count: number, wipePolicy: WipePolicy | null): string | null {
  if (!permitted) return 'Requires fleet.approve';
  if (count === 0) return 'No eligible candidates left.';
  return wipePolicy ? null : 'Choose a wipe policy first.';
}
