import { appReasons } from '@gpuaas/sdk/app-reasons';
import type { AppInstance } from '../api/types.ts';
import { humanize } from '../format/humanize.ts';
import { Notice } from '../ui/feedback/notice.tsx';
import { Fact, Facts } from '../ui/values/facts.tsx';

/** What the instance waits for, or why it failed, and what unblocks it. */
export function WorkloadNotice({ instance }: { instance: AppInstance }) {
  const { status, reason, waiting_for: gate, exit_code: exitCode } = instance;
  if (gate) {
    const { title, help } = appReasons[gate.reason];
    return (
      <Notice tone="warn" title={title}>
        <p>{gate.message}</p>
        <p>{help}</p>
        <Numbers facts={gate.facts} />
      </Notice>
    );
  }
  if (status !== 'failed' || !reason) return null;
  const { title, help } = appReasons[reason];
  return (
    <Notice tone="danger" title={title}>
      <p>
        {help} {exitCode !== null && `Exit code ${exitCode}.`}
      </p>
    </Notice>
  );
}

/** The numbers of a gate's decision. */
function Numbers({ facts }: { facts: Record<string, unknown> }) {
  const plain = Object.entries(facts).filter(([, value]) =>
    ['string', 'number', 'boolean'].includes(typeof value),
  );
  if (plain.length === 0) return null;
  return (
    <Facts>
      {plain.map(([name, value]) => (
        <Fact key={name} name={humanize(name)}>
          {String(value)}
        </Fact>
      ))}
    </Facts>
  );
}
