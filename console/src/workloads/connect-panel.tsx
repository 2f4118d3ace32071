import { useQuery } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { addressQuery } from '../api/apps/instances.ts';
import { useProjectDisabledReason } from '../api/me.ts';
import type { AppAddress, AppInstance } from '../api/types.ts';
import { Button } from '../ui/actions/button.tsx';
import { buttonClass } from '../ui/actions/button-class.ts';
import { CopyLine } from '../ui/actions/copy-line.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { Panel } from '../ui/panel.tsx';
import { toCliLines, toCurlLine } from './connect-lines.ts';

export function hasAddress({ ports }: AppInstance): boolean {
  return ports.some(({ protocol }) => protocol === 'http');
}

/** How people and programs reach the app. */
export function ConnectPanel({ instance }: { instance: AppInstance }) {
  const isServed = hasAddress(instance);
  const query = useQuery({ ...addressQuery(instance.id), enabled: isServed });
  return (
    <Panel title="Connect" aside={query.data && <OpenApp instance={instance} url={query.data.url} />}>
      <div className="flex flex-col gap-3">
        {isServed && (
          <QueryBoundary query={query} loading={<Skeleton label="Loading the address" rows={2} />}>
            {(address) => <AddressLines address={address} />}
          </QueryBoundary>
        )}
        {toCliLines(instance.id, isServed).map((line) => (
          <CopyLine key={line.label} {...line} />
        ))}
      </div>
    </Panel>
  );
}

function AddressLines({ address }: { address: AppAddress }) {
  return (
    <>
      <CopyLine label="Address" value={address.url} />
      <p className="text-xs text-ink-faint">Programs send an API key:</p>
      <CopyLine label="curl command" value={toCurlLine(address)} />
    </>
  );
}

/** A link to the app on its own origin, or the reason why it cannot be opened. */
function OpenApp({ instance, url }: { instance: AppInstance; url: string }) {
  const permission = useProjectDisabledReason(instance.project_id, 'app_instance.open');
  const refusal = permission ?? (instance.status === 'running' ? null : 'It can be opened while it runs.');
  if (refusal) {
    return (
      <Button variant="primary" size="sm" disabledReason={refusal}>
        Open
      </Button>
    );
  }
  return (
    <a
      href={url}
      target="_blank"
      rel="noopener noreferrer"
      className={buttonClass({ variant: 'primary', size: 'sm' })}
    >
      <ExternalLink aria-hidden className="size-3.5" />
      Open
    </a>
  );
}
