import { useQuery } from '@tanstack/react-query';
import { detachIngress, ingressQuery } from '../api/ingress.ts';
import { allocationKeys } from '../api/query-keys.ts';
import { useProjectRefusal } from '../api/session.ts';
import type { Allocation, Ingress } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { Badge } from '../ui/badge.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { CopyLine } from '../ui/copy-line.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { AttachIngress } from './attach-ingress.tsx';

/** What leads to the machine from outside. */
export function IngressPanel({ allocation }: { allocation: Allocation }) {
  const query = useQuery(ingressQuery(allocation.id));
  return (
    <Panel title="Reachable from outside" aside={<AttachIngress allocation={allocation} />}>
      <Loaded query={query} loading={<Skeleton label="Loading what is reachable" rows={1} />}>
        {(items) =>
          items.length === 0 ? (
            <p className="text-sm text-ink-muted">
              Nothing. For yourself, <code>gpuaas forward</code> and the terminal need no public address.
            </p>
          ) : (
            <ul className="flex flex-col gap-3">
              {items.map((ingress) => (
                <IngressLine key={ingress.id} ingress={ingress} projectId={allocation.project_id} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}

function IngressLine({ ingress, projectId }: { ingress: Ingress; projectId: string }) {
  const { allocation_id: allocationId, id, state } = ingress;
  const outside = `${ingress.public_address}:${ingress.public_port}`;
  const refusal = useProjectRefusal(projectId, 'ingress.manage');
  const detach = useChange({
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
          label="Detach"
          title={`Detach ${outside}?`}
          confirmLabel="Detach"
          disabledReason={refusal ?? (state === 'detaching' ? 'It is being detached.' : null)}
          act={detach}
        >
          Connections through it end, and another machine may get the port.
        </ConfirmButton>
      </div>
      {ingress.failure && (
        <p className="tone-warn text-xs text-tone-text">{ingress.failure} The host is asked again.</p>
      )}
    </li>
  );
}
