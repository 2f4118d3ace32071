import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { labFaultsQuery, setLabFaults } from '../../api/fleet/lab.ts';
import { fleetKeys } from '../../api/query-keys.ts';
import { hasPlatformPermission, useMe } from '../../api/me.ts';
import { LAB_FAULTS } from './lab-faults.ts';
import { Panel } from '../../ui/panel.tsx';
import { ProblemNotice } from '../../ui/feedback/problem-notice.tsx';

/** Sets and clears faults of a simulated host. Hidden without a lab. */
export function LabFaultsPanel({ hostname }: { hostname: string }) {
  const standing = useQuery(labFaultsQuery(hostname)).data;
  const queryClient = useQueryClient();
  const me = useMe();
  const change = useMutation({
    mutationFn: setLabFaults,
    onSuccess: (host) => queryClient.setQueryData(fleetKeys.labFaults(hostname), host.faults),
  });
  if (!standing) return null;
  const permitted = hasPlatformPermission(me, 'lab.operate');
  return (
    <Panel title="Lab faults">
      <div className="flex flex-col gap-1.5 text-sm">
        <p className="pb-1 text-xs text-ink-faint">
          {permitted ? 'Simulated host: inject faults and watch the platform react.' : 'Requires lab.operate'}
        </p>
        {LAB_FAULTS.map(({ fault, label }) => (
          <label key={fault} className="flex items-center gap-2">
            <input
              type="checkbox"
              checked={standing.includes(fault)}
              disabled={!permitted || change.isPending}
              onChange={({ target }) =>
                change.mutate({
                  hostname,
                  faults: target.checked ? [...standing, fault] : standing.filter((one) => one !== fault),
                })
              }
            />
            {label}
          </label>
        ))}
        {change.error && <ProblemNotice error={change.error} />}
      </div>
    </Panel>
  );
}
