import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { approveSlots, slotsQuery } from '../api/fleet.ts';
import { fleetKeys } from '../api/query-keys.ts';
import { mayOnPlatform, useMe } from '../api/session.ts';
import type { TopologyDiscovery, WipePolicy } from '../api/types.ts';
import { counted } from '../format/words.ts';
import { Button } from '../ui/button.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { Select, type SelectOption } from '../ui/select.tsx';

const WIPE_POLICIES: SelectOption<WipePolicy>[] = [
  { value: 'blkdiscard', label: 'blkdiscard', hint: 'Discard every block, then verify' },
  { value: 'nvme_format', label: 'nvme_format', hint: 'NVMe format with secure erase, then verify' },
];

interface ApproveSlotsProps {
  nodeId: string;
  discovery: TopologyDiscovery;
}

/** Turns candidates into slots that may be sold. Whoever approves hands their disks over to be wiped. */
export function ApproveSlots({ nodeId, discovery: { task, approval } }: ApproveSlotsProps) {
  const [wipePolicy, setWipePolicy] = useState<WipePolicy | null>(null);
  const queryClient = useQueryClient();
  const me = useMe();
  const approved = useQuery(slotsQuery(nodeId)).data ?? [];
  const slotIndexes = approval
    .filter(({ rules }) => rules.every(({ breach }) => breach === null))
    .map(({ slot_index: index }) => index)
    .filter((index) => !approved.some(({ slot_index: known }) => known === index));
  const approve = useMutation({
    mutationFn: approveSlots,
    onSuccess: () => {
      for (const queryKey of [fleetKeys.slots(nodeId), fleetKeys.node(nodeId), fleetKeys.nodes]) {
        void queryClient.invalidateQueries({ queryKey });
      }
    },
  });
  const refusal = approvalRefusal(mayOnPlatform(me, 'fleet.approve'), slotIndexes.length, wipePolicy);
  return (
    <div className="flex flex-col gap-3 border-t border-line p-4">
      <div className="flex flex-wrap items-end gap-3">
        <div className="flex w-60 flex-col gap-1.5">
          <Select
            label="Wipe policy"
            options={WIPE_POLICIES}
            value={wipePolicy}
            placeholder="Choose how disks are wiped"
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
          ? `The NVMe disks of ${counted(slotIndexes.length, 'slot')} go over to tenants: whatever is on them is destroyed.`
          : 'Every candidate that keeps the rules is approved.'}
      </p>
      {approve.error && <ProblemNotice error={approve.error} />}
    </div>
  );
}

function approvalRefusal(permitted: boolean, count: number, wipePolicy: WipePolicy | null): string | null {
  if (!permitted) return 'You lack the permission fleet.approve.';
  if (count === 0) return 'No candidate is left that keeps the rules.';
  return wipePolicy ? null : 'Choose a wipe policy first.';
}
