import type { AllocationDetail } from '../api/types.ts';
import { humanize } from '../format/humanize.ts';
import { Badge } from '../ui/values/badge.tsx';
import { Panel } from '../ui/panel.tsx';
import { ProgressBar } from '../ui/charts/progress-bar.tsx';
import type { Tone } from '../ui/values/tone.ts';

type Stage = AllocationDetail['stages'][number];

const TONES: Record<Stage['status'], Tone> = {
  waiting: 'neutral',
  running: 'info',
  done: 'success',
  failed: 'danger',
  skipped: 'neutral',
};

export function StagesPanel({ stages }: { stages: Stage[] }) {
  return (
    <Panel title="Stages">
      <ol className="flex flex-col gap-3">
        {stages.map(({ stage, status, percent, message }) => (
          <li key={stage} className="flex flex-col gap-1 text-sm">
            <span className="flex items-center justify-between gap-3">
              <span className="font-medium">{humanize(stage)}</span>
              <Badge tone={TONES[status]} moving={status === 'running'}>
                {humanize(status)}
              </Badge>
            </span>
            {message && <span className="text-ink-muted">{message}</span>}
            {status === 'running' && <ProgressBar label={humanize(stage)} percent={percent} tone="info" />}
          </li>
        ))}
      </ol>
    </Panel>
  );
}
