import type { ReactNode } from 'react';
import type { PlacementRequest } from '../api/allocations/placements.ts';
import { formatMoney, costOver, multiplyMoney } from '../format/money.ts';
import { pluralize } from '../format/humanize.ts';
import { Button } from '../ui/actions/button.tsx';
import { CapacityNotice } from './capacity-notice.tsx';
import type { LaunchChoice } from './launch-choice.ts';
import { RunwayNote } from './runway-note.tsx';
import { LaunchErrorNotice } from './launch-error-notice.tsx';

const HOURS_PER_MONTH = 730;
const SECOND_MS = 1_000;

interface LaunchSummaryProps {
  organizationId: string;
  choice: LaunchChoice;
  /** Why it cannot be launched in this form. */
  refusal: string | null;
  /** Why it cannot be queued either. */
  queueRefusal: string | null;
  /** No host has capacity for it now. */
  full: boolean;
  request: PlacementRequest | null;
  busy: boolean;
  error: Error | null;
  onGpuCount: (gpus: number) => void;
  /** Switches from a whole host to a slice; null where that does not help. */
  onSlice: (() => void) | null;
  onQueue: () => void;
}

/** Price, included resources, and the launch button. */
export function LaunchSummary(props: LaunchSummaryProps) {
  const { choice, request, refusal, queueRefusal, full, busy, error, onGpuCount, onSlice, onQueue } = props;
  const { sku, gpus, perGpuHour } = choice;
  const perHour = multiplyMoney(perGpuHour, gpus);
  return (
    <section
      aria-label="Summary"
      className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-4 sm:p-5 lg:sticky lg:top-6"
    >
      <div aria-live="polite">
        <p className="text-3xl font-semibold tracking-tight tabular-nums">
          {formatMoney(perHour)}
          <span className="text-base font-normal text-ink-muted"> / hour</span>
        </p>
        <p className="text-sm text-ink-muted">
          {pluralize(gpus, 'GPU')} × {formatMoney(perGpuHour)}, billed by the second
        </p>
      </div>
      <dl className="flex flex-col gap-1.5 border-y border-line py-3 text-sm">
        <Line name="Per day">{formatMoney(multiplyMoney(perHour, 24))}</Line>
        {request?.max_duration_seconds && (
          <Line name="Maximum">
            {formatMoney(costOver(perHour, request.max_duration_seconds * SECOND_MS))}
          </Line>
        )}
        <Line name={`Per month (${HOURS_PER_MONTH} h)`}>
          {formatMoney(multiplyMoney(perHour, HOURS_PER_MONTH))}
        </Line>
      </dl>
      <dl className="flex flex-col gap-1.5 text-sm">
        <Line name="GPUs">
          {gpus} × {sku.gpu_model}
        </Line>
        <Line name="vCPU">{(gpus * sku.resource_profile.vcpu_per_gpu).toLocaleString('en-US')}</Line>
        <Line name="Memory">
          {(gpus * sku.resource_profile.memory_gib_per_gpu).toLocaleString('en-US')} GiB
        </Line>
        <Line name="Storage">{pluralize(gpus, 'local NVMe disk')}, wiped at release</Line>
      </dl>
      <RunwayNote organizationId={props.organizationId} perHour={perHour} />
      {request && <CapacityNotice request={request} onGpuCount={onGpuCount} onSlice={onSlice} />}
      {error && <LaunchErrorNotice error={error} gpus={gpus} onGpuCount={onGpuCount} />}
      <div className="flex flex-col gap-2">
        <Button type="submit" variant="primary" size="lg" busy={busy} disabledReason={refusal}>
          Launch {pluralize(gpus, 'GPU')}
        </Button>
        {full && (
          <Button size="lg" disabledReason={queueRefusal} busy={busy} onClick={onQueue}>
            Queue launch
          </Button>
        )}
        {refusal && <p className="text-sm text-ink-muted">{refusal}</p>}
      </div>
    </section>
  );
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex justify-between gap-3">
      <dt className="text-ink-muted">{name}</dt>
      <dd className="text-right tabular-nums">{children}</dd>
    </div>
  );
}
