import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { SquareTerminal } from 'lucide-react';
import { connectionQuery } from '../api/allocations.ts';
import { mayInProject, useMe } from '../api/session.ts';
import type { Allocation, Connection } from '../api/types.ts';
import { buttonClass } from '../ui/button-class.ts';
import { CopyLine } from '../ui/copy-line.tsx';
import { Code, Fact, Facts } from '../ui/facts.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Notice } from '../ui/notice.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/skeleton.tsx';

export function ConnectionPanel({ allocation }: { allocation: Allocation }) {
  const may = mayInProject(useMe(), allocation.project_id, 'allocation.connect');
  const query = useQuery({ ...connectionQuery(allocation.id), enabled: may });
  if (!may) {
    return (
      <Panel title="Connect">
        <p className="text-sm text-ink-muted">You lack the permission allocation.connect in this project.</p>
      </Panel>
    );
  }
  return (
    <Panel title="Connect" aside={<OpenTerminal allocationId={allocation.id} />}>
      <Loaded query={query} loading={<Skeleton label="Loading the connection" rows={3} />}>
        {(connection) => <ConnectionFacts connection={connection} name={allocation.name} />}
      </Loaded>
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
      <CopyLine label="Login from anywhere" value={`gpuaas ssh ${name}`} />
      <p className="text-xs text-ink-faint">
        Through the platform, with a key that was chosen at the launch. <code>gpuaas cp</code> and{' '}
        <code>gpuaas forward</code> go the same way; the terminal here needs no key.
      </p>
      <CopyLine label="SSH command" value={connection.ssh_command} />
      <p className="text-xs text-ink-faint">From inside the private network, with the same key.</p>
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
