import { useMutation, useQuery } from '@tanstack/react-query';
import { auditCheckpointsQuery, verifyAuditChain } from '../api/audit.ts';
import { usePlatformRefusal } from '../api/session.ts';
import { counted } from '../format/words.ts';
import { Button } from '../ui/button.tsx';
import { Fact, Facts, LongName } from '../ui/facts.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Notice } from '../ui/notice.tsx';
import { Panel } from '../ui/panel.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Timestamp } from '../ui/timestamp.tsx';

/** The seal of the log: its newest end, and a check of the whole on demand. */
export function ChainPanel() {
  const query = useQuery(auditCheckpointsQuery);
  const refusal = usePlatformRefusal('audit.verify');
  const verify = useMutation({ mutationFn: verifyAuditChain });
  return (
    <Panel
      title="Chain"
      aside={
        <Button size="sm" disabledReason={refusal} busy={verify.isPending} onClick={() => verify.mutate()}>
          Verify now
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <Loaded query={query} loading={<Skeleton label="Loading the chain" rows={2} />}>
          {({ items }) => {
            const head = items[0]?.checkpoint;
            return head ? (
              <Facts>
                <Fact name="Sealed">
                  <Timestamp at={head.sealed_at} />
                </Fact>
                <Fact name="Segment">
                  {head.segment}, {counted(head.row_count, 'entry', 'entries')}
                </Fact>
                <Fact name="Head" copy={head.head_hash}>
                  <LongName>{head.head_hash}</LongName>
                </Fact>
              </Facts>
            ) : (
              <p className="text-sm text-ink-muted">
                Nothing is sealed yet; the first seal comes within minutes.
              </p>
            );
          }}
        </Loaded>
        {verify.error && <ProblemNotice error={verify.error} />}
        {verify.data && <Outcome outcome={verify.data} />}
      </div>
    </Panel>
  );
}

function Outcome({ outcome }: { outcome: Awaited<ReturnType<typeof verifyAuditChain>> }) {
  const looked = `${counted(outcome.rows, 'entry', 'entries')} in ${counted(outcome.segments, 'segment')}`;
  if (outcome.findings.length === 0) {
    return (
      <Notice tone="info" title={outcome.whole ? 'The chain is whole' : 'No break was found so far'}>
        <p>{looked} were recomputed and match their seals.</p>
      </Notice>
    );
  }
  return (
    <Notice tone="danger" title="The chain is broken">
      <p>{looked} were recomputed. Follow the runbook audit-chain-broken.</p>
      <ul className="list-disc pl-4">
        {outcome.findings.map((finding) => (
          <li key={`${finding.kind} ${finding.segment} ${finding.row_id ?? ''}`}>{finding.detail}</li>
        ))}
      </ul>
    </Notice>
  );
}
