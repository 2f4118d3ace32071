import { useMutation, useQuery } from '@tanstack/react-query';
import { auditCheckpointsQuery, verifyAuditChain } from '../api/operations/audit.ts';
import { usePlatformDisabledReason } from '../api/me.ts';
import { pluralize } from '../format/humanize.ts';
import { Button } from '../ui/actions/button.tsx';
import { Fact, Facts, TruncatedName } from '../ui/values/facts.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Notice } from '../ui/feedback/notice.tsx';
import { Panel } from '../ui/panel.tsx';
import { ProblemNotice } from '../ui/feedback/problem-notice.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';

/** The seal of the log: its newest end, and a check of the whole on demand. */
export function ChainPanel() {
  const query = useQuery(auditCheckpointsQuery);
  const refusal = usePlatformDisabledReason('audit.verify');
  const verify = useMutation({ mutationFn: verifyAuditChain });
  return (
    <Panel
      title="Hash chain"
      aside={
        <Button size="sm" disabledReason={refusal} busy={verify.isPending} onClick={() => verify.mutate()}>
          Verify now
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <QueryBoundary query={query} loading={<Skeleton label="Loading the chain" rows={2} />}>
          {({ items }) => {
            const head = items[0]?.checkpoint;
            return head ? (
              <Facts>
                <Fact name="Sealed">
                  <Timestamp at={head.sealed_at} />
                </Fact>
                <Fact name="Segment">
                  {head.segment}, {pluralize(head.row_count, 'entry', 'entries')}
                </Fact>
                <Fact name="Head" copy={head.head_hash}>
                  <TruncatedName>{head.head_hash}</TruncatedName>
                </Fact>
              </Facts>
            ) : (
              <p className="text-sm text-ink-muted">
                Nothing sealed yet. The first seal takes a few minutes.
              </p>
            );
          }}
        </QueryBoundary>
        {verify.error && <ProblemNotice error={verify.error} />}
        {verify.data && <Outcome outcome={verify.data} />}
      </div>
    </Panel>
  );
}

function Outcome({ outcome }: { outcome: Awaited<ReturnType<typeof verifyAuditChain>> }) {
  const looked = `${pluralize(outcome.rows, 'entry', 'entries')} in ${pluralize(outcome.segments, 'segment')}`;
  if (outcome.findings.length === 0) {
    return (
      <Notice tone="info" title={outcome.whole ? 'Chain intact' : 'No break found so far'}>
        <p>{looked} recomputed and matched.</p>
      </Notice>
    );
  }
  return (
    <Notice tone="danger" title="Chain broken">
      <p>{looked} recomputed. Follow the runbook audit-chain-broken.</p>
      <ul className="list-disc pl-4">
        {outcome.findings.map((finding) => (
          <li key={`${finding.kind} ${finding.segment} ${finding.row_id ?? ''}`}>{finding.detail}</li>
        ))}
      </ul>
    </Notice>
  );
}
