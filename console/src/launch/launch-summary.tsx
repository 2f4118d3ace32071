import type { ReactNode } from 'react';
import type { PlacementRequest } from '../api/placements.ts';
import { formatMoney, priceOver, times } from '../format/money.ts';
import { counted } from '../format/words.ts';
import { Button } from '../ui/button.tsx';
import { DoesNotFit } from './does-not-fit.tsx';
import type { LaunchChoice } from './launch-choice.ts';
import { MoneyNote } from './money-note.tsx';
import { LaunchRefused } from './launch-refused.tsx';

const HOURS_PER_MONTH = 730;
const SECOND_MS = 1_000;

interface LaunchSummaryProps {
  organizationId: string;
  choice: LaunchChoice;
  /** Why it cannot be launched as it stands. */
  refusal: string | null;
  /** Why it could not wait in line either. */
  queueRefusal: string | null;
  /** No host has room for it now. */
  full: boolean;
  request: PlacementRequest | null;
  busy: boolean;
  error: Error | null;
  onGpuCount: (gpus: number) => void;
  /** Takes a slice in place of a whole host; null where that is no way out. */
  onSlice: (() => void) | null;
  onQueue: () => void;
}

/** What it costs, what comes with it, and the button. */
export function LaunchSummary(props: LaunchSummaryProps) {
  const { choice, request, refusal, queueRefusal, full, busy, error, onGpuCount, onSlice, onQueue } = props;
  const { sku, gpus, perGpuHour } = choice;
  const perHour = times(perGpuHour, gpus);
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
          {counted(gpus, 'GPU')} × {formatMoney(perGpuHour)}, billed by the second
        </p>
      </div>
      <dl className="flex flex-col gap-1.5 border-y border-line py-3 text-sm">
        <Line name="Per day">{formatMoney(times(perHour, 24))}</Line>
        {request?.max_duration_seconds && (
          <Line name="At most">
            {formatMoney(priceOver(perHour, request.max_duration_seconds * SECOND_MS))}
          </Line>
        )}
        <Line name={`Per month (${HOURS_PER_MONTH} h)`}>{formatMoney(times(perHour, HOURS_PER_MONTH))}</Line>
      </dl>
      <dl className="flex flex-col gap-1.5 text-sm">
        <Line name="GPUs">
          {gpus} × {sku.gpu_model}
        </Line>
        <Line name="vCPU">{(gpus * sku.resource_profile.vcpu_per_gpu).toLocaleString('en-US')}</Line>
        <Line name="Memory">
          {(gpus * sku.resource_profile.memory_gib_per_gpu).toLocaleString('en-US')} GiB
        </Line>
        <Line name="Storage">{counted(gpus, 'local NVMe disk')}, wiped at release</Line>
      </dl>
      <MoneyNote organizationId={props.organizationId} perHour={perHour} />
      {request && <DoesNotFit request={request} onGpuCount={onGpuCount} onSlice={onSlice} />}
      {error && <LaunchRefused error={error} gpus={gpus} onGpuCount={onGpuCount} />}
      <div className="flex flex-col gap-2">
        <Button type="submit" variant="primary" size="lg" busy={busy} disabledReason={refusal}>
          Launch {counted(gpus, 'GPU')}
        </Button>
        {full && (
          <Button size="lg" disabledReason={queueRefusal} busy={busy} onClick={onQueue}>
            Wait in line
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
