import { ProblemError, type Problem } from '@gpuaas/sdk/problem';
import { pluralize, humanize } from '../format/humanize.ts';
import { formatMoney, isMoney } from '../format/money.ts';
import { Button } from '../ui/actions/button.tsx';
import { Notice } from '../ui/feedback/notice.tsx';
import { ProblemNotice } from '../ui/feedback/problem-notice.tsx';

const STANDARD_MEMBERS = new Set([
  'type',
  'title',
  'status',
  'detail',
  'code',
  'correlation_id',
  'errors',
  'instance',
]);

interface LaunchRefusedProps {
  error: Error;
  gpus: number;
  onGpuCount: (gpus: number) => void;
}

/** The reason of a refused launch, its details, and the nearest size that would fit. */
export function LaunchErrorNotice({ error, gpus, onGpuCount }: LaunchRefusedProps) {
  if (!(error instanceof ProblemError)) return <ProblemNotice error={error} />;
  if (error.problem.code === 'price_changed') return <PriceChanged problem={error.problem} />;
  const nearest = error.problem['nearest_gpu_count'];
  const action =
    typeof nearest === 'number' && nearest > 0 && nearest !== gpus ? (
      <Button size="sm" onClick={() => onGpuCount(nearest)}>
        Switch to {pluralize(nearest, 'GPU')}
      </Button>
    ) : null;
  return (
    <ProblemNotice error={error} action={action}>
      <dl className="flex flex-col gap-0.5 text-xs">
        {extensionMembers(error.problem).map(([name, value]) => (
          <div key={name} className="flex justify-between gap-3">
            <dt>{humanize(name)}</dt>
            <dd className="text-right break-words tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
    </ProblemNotice>
  );
}

/** Nothing was launched: the summary shows the new price, and the next click accepts it. */
function PriceChanged({ problem }: { problem: Problem }) {
  const { expected_per_gpu_hour: shown, current_per_gpu_hour: current } = problem;
  return (
    <Notice tone="warn" title="The price has changed">
      {isMoney(shown) && isMoney(current) && (
        <p>
          A GPU hour cost {formatMoney(shown)} and costs {formatMoney(current)} now.
        </p>
      )}
      <p>Nothing was launched. Launch again to accept the new price.</p>
    </Notice>
  );
}

function extensionMembers(problem: Problem): [name: string, value: string][] {
  return Object.entries(problem)
    .filter(([name]) => !STANDARD_MEMBERS.has(name))
    .map(([name, value]) => [name, onOneLine(value)]);
}

function onOneLine(value: unknown): string {
  if (Array.isArray(value)) return value.map(onOneLine).join('; ');
  if (isMoney(value)) return formatMoney(value);
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, inner]) => `${humanize(name).toLowerCase()} ${onOneLine(inner)}`)
    .join(', ');
}
