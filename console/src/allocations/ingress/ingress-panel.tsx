import { useQuery } from '@tanstack/react-query';
import { detachIngress, ingressQuery } from '../../api/allocations/ingress.ts';
import { allocationKeys } from '../../api/query-keys.ts';
import { useProjectDisabledReason } from '../../api/me.ts';
import type { Allocation, Ingress } from '../../api/types.ts';
import { useRefreshingMutation } from '../../api/use-refreshing-mutation.ts';
import { Badge } from '../../ui/values/badge.tsx';
import { ConfirmButton } from '../../ui/actions/confirm-button.tsx';
import { CopyLine } from '../../ui/actions/copy-line.tsx';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { AttachIngress } from './attach-ingress.tsx';

/** Forwardings from outside to the machine. */
export function IngressPanel({ allocation }: { allocation: Allocation }) {
  const query = useQuery(ingressQuery(allocation.id));
  return (
    <Panel title="Public ports" aside={<AttachIngress allocation={allocation} />}>
      <QueryBoundary query={query} loading={<Skeleton label="Loading public ports" rows={1} />}>
        {(items) =>
          items.length === 0 ? (
            <p className="text-sm text-ink-muted">
              None. For private access, <code>gpuaas forward</code> and the web terminal need no public
              address.
            </p>
          ) : (
            <ul className="flex flex-col gap-3">
              {items.map((ingress) => (
                <IngressLine key={ingress.id} ingress={ingress} projectId={allocation.project_id} />
              ))}
            </ul>
          )
        }
      </QueryBoundary>
    </Panel>
  );
}

function IngressLine({ ingress, projectId }: { ingress: Ingress; projectId: string }) {
  const { allocation_id: allocationId, id, state } = ingress;
  const outside = `${ingress.public_address}:${ingress.public_port}`;
  const refusal = useProjectDisabledReason(projectId, 'ingress.manage');
  const detach = useRefreshingMutation({
    mutationFn: () => detachIngress({ allocationId, id }),
    refreshes: [allocationKeys.ingress(allocationId)],
  });
  return (
    <li className="flex flex-col gap-1.5">
      <CopyLine label={`${ingress.protocol.toUpperCase()} to port ${ingress.machine_port}`} value={outside} />
      <div className="flex items-center justify-between gap-3">
        <Badge tone={state === 'attached' ? 'success' : 'info'} moving={state !== 'attached'}>
          {state}
        </Badge>
        <ConfirmButton
          label="Remove"
          title={`Detach ${outside}?`}
          confirmLabel="Remove"
          disabledReason={refusal ?? (state === 'detaching' ? 'Already being removed.' : null)}
          act={detach}
        >
          Open connections will be closed, and the port can be assigned to another machine.
        </ConfirmButton>
      </div>
      {ingress.failure && (
        <p className="tone-warn text-xs text-tone-text">{ingress.failure} Retrying on the host.</p>
      )}
    </li>
  );
}
