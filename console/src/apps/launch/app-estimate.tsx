import type { AppRequestPrice, AppTarget } from '../../api/types.ts';
import { formatMoney } from '../../format/money.ts';
import { Button } from '../../ui/actions/button.tsx';
import { ProblemNotice } from '../../ui/feedback/problem-notice.tsx';

interface AppEstimateProps {
  name: string;
  target: AppTarget | null;
  /** Null if requests are free. */
  requestPrice: AppRequestPrice | null;
  /** It answers requests through the gateway. */
  isServed: boolean;
  /** Why it cannot be launched in this form. */
  refusal: string | null;
  busy: boolean;
  error: Error | null;
}

/** What the launch adds to the bill, and the launch button. */
export function AppEstimate(props: AppEstimateProps) {
  const { name, target, requestPrice, isServed, refusal, busy, error } = props;
  return (
    <section
      aria-label="Estimate"
      className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-4 sm:p-5 lg:sticky lg:top-6"
    >
      <dl className="flex flex-col gap-3 text-sm" aria-live="polite">
        <div>
          <dt className="text-ink-muted">The app</dt>
          <dd className="text-xl font-semibold tracking-tight tabular-nums">
            {isServed && requestPrice ? priceOf(requestPrice) : 'Free'}
          </dd>
        </div>
        {target && (
          <div>
            <dt className="text-ink-muted">The allocation {target.name}</dt>
            <dd className="tabular-nums">
              {formatMoney(target.per_hour)} per hour, billed whether the app runs or not
            </dd>
          </div>
        )}
      </dl>
      {target?.gate && (
        <p className="tone-warn text-sm text-tone-text">It waits and starts later. {target.gate.message}</p>
      )}
      {error && <ProblemNotice error={error} />}
      <Button type="submit" variant="primary" size="lg" busy={busy} disabledReason={refusal}>
        Launch {name}
      </Button>
      {refusal && <p className="text-sm text-ink-muted">{refusal}</p>}
    </section>
  );
}

function priceOf({ price, per }: AppRequestPrice): string {
  return `${formatMoney(price)} per ${per === 1 ? 'request' : `${per.toLocaleString('en-US')} requests`}`;
}
