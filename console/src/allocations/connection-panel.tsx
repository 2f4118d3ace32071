import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { SquareTerminal } from 'lucide-react';
import { connectionQuery } from '../api/allocations/allocations.ts';
import { hasProjectPermission, useMe } from '../api/me.ts';
import type { Allocation, Connection } from '../api/types.ts';
import { pluralize } from '../format/humanize.ts';
import { buttonClass } from '../ui/actions/button-class.ts';
import { CopyLine } from '../ui/actions/copy-line.tsx';
import { Code, Fact, Facts } from '../ui/values/facts.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Notice } from '../ui/feedback/notice.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';

export function ConnectionPanel({ allocation }: { allocation: Allocation }) {
  const may = hasProjectPermission(useMe(), allocation.project_id, 'allocation.connect');
  const query = useQuery({ ...connectionQuery(allocation.id), enabled: may });
  if (!may) {
    return (
      <Panel title="Connect">
        <p className="text-sm text-ink-muted">Requires allocation.connect in this project</p>
      </Panel>
    );
  }
  return (
    <Panel title="Connect" aside={<OpenTerminal allocationId={allocation.id} />}>
      <QueryBoundary query={query} loading={<Skeleton label="Loading the connection" rows={3} />}>
        {(connection) => <ConnectionFacts connection={connection} name={allocation.name} />}
      </QueryBoundary>
    </Panel>
  );
}

function OpenTerminal({ allocationId }: { allocationId: string }) {
  return (
    <Link
      to="/allocations/$allocationId"
      params={{ allocationId }}
      search={(old) => ({ ...old, tab: 'terminal' })}
      className={buttonClass({ size: 'sm' })}
    >
      <SquareTerminal aria-hidden className="size-3.5" />
      Open terminal
    </Link>
  );
}

function ConnectionFacts({ connection, name }: { connection: Connection; name: string }) {
  const ip = connection.actual_ip ?? connection.expected_ip;
  return (
    <div className="flex flex-col gap-3">
      {connection.lease_state !== 'bound' && (
        <Notice
          tone="warn"
          title={connection.lease_state === 'missing' ? 'No address yet' : 'Unexpected address'}
        >
          <p>
            Expected {connection.expected_ip}, the host reports {connection.actual_ip ?? 'none'}.
          </p>
        </Notice>
      )}
      <SshLines connection={connection} name={name} />
      <Facts>
        <Fact name="User" copy={connection.username}>
          <Code>{connection.username}</Code>
        </Fact>
        <Fact name="Private IP" copy={ip}>
          <Code>{ip}</Code>
        </Fact>
        <Fact name="Host key" copy={connection.host_key_fingerprint}>
          <Code>{connection.host_key_fingerprint}</Code>
        </Fact>
        <Fact name="MAC" copy={connection.mac}>
          <Code>{connection.mac}</Code>
        </Fact>
      </Facts>
    </div>
  );
}

function SshLines({ connection, name }: { connection: Connection; name: string }) {
  const { ssh_key_fingerprints: keys, ssh_command: command } = connection;
  if (keys.length === 0) {
    return (
      <Notice tone="warn" title="SSH is not possible: no key was chosen at launch">
        <p>Use the web terminal, or launch again with an SSH key.</p>
      </Notice>
    );
  }
  return (
    <>
      <CopyLine label="SSH from anywhere" value={`gpuaas ssh ${name}`} />
      <p className="text-xs text-ink-faint">
        With {pluralize(keys.length, 'key')} chosen at launch:{' '}
        <span className="font-mono">{keys.join(', ')}</span>. <code>gpuaas cp</code> and{' '}
        <code>gpuaas forward</code> work the same way. The web terminal needs no key.
      </p>
      <CopyLine label="SSH command" value={command} />
      <p className="text-xs text-ink-faint">From the private network, with the same key.</p>
    </>
  );
}
