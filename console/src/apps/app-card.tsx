import { Link } from '@tanstack/react-router';
import { useProjectDisabledReason } from '../api/me.ts';
import type { AppManifest } from '../api/types.ts';
import { Button } from '../ui/actions/button.tsx';
import { buttonClass } from '../ui/actions/button-class.ts';
import { Badge } from '../ui/values/badge.tsx';
import { describeNeeds } from './describe-needs.ts';

interface AppCardProps {
  manifest: AppManifest;
  projectId: string;
  /** Allocation that an app is chosen for. */
  on: string | undefined;
}

/** An app of the catalog with what it needs. */
export function AppCard({ manifest, projectId, on }: AppCardProps) {
  const { slug, version: app } = manifest;
  return (
    <li className="flex flex-col gap-3 rounded-lg border border-line bg-surface p-4">
      <div className="flex items-center justify-between gap-2">
        <h2 className="text-base font-semibold">{app.display_name}</h2>
        <Badge tone={app.kind === 'job' ? 'violet' : 'info'}>{app.kind === 'job' ? 'Job' : 'Service'}</Badge>
      </div>
      <p className="flex-1 text-sm text-ink-muted">{app.description}</p>
      <div className="flex items-end justify-between gap-3">
        <p className="text-xs text-ink-faint">
          {describeNeeds(app.compatibility).join(' · ')}
          <br />
          Version {app.version}
        </p>
        <LaunchApp slug={slug} name={app.display_name} projectId={projectId} on={on} />
      </div>
    </li>
  );
}

interface LaunchAppProps extends Pick<AppCardProps, 'projectId' | 'on'> {
  slug: string;
  name: string;
}

function LaunchApp({ slug, name, projectId, on }: LaunchAppProps) {
  const refusal = useProjectDisabledReason(projectId, 'app_instance.create');
  if (refusal) {
    return (
      <Button variant="primary" disabledReason={refusal} label={`Launch ${name}`}>
        Launch
      </Button>
    );
  }
  return (
    <Link
      to="/apps/$appSlug"
      params={{ appSlug: slug }}
      search={(old) => ({ ...old, ...(on ? { on } : {}) })}
      aria-label={`Launch ${name}`}
      className={buttonClass({ variant: 'primary' })}
    >
      Launch
    </Link>
  );
}
