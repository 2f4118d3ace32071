import type { Command } from 'commander';
import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { colorize } from '../../colorize.ts';
import { print } from '../../print.ts';
import { openSession, type Session } from '../../session.ts';

type Verification = components['schemas']['AuditVerification'];

/** Limit of one request. */
const SEGMENTS = 50;

export function addAudit(admin: Command): void {
  admin
    .command('audit')
    .description('the audit log')
    .command('verify')
    .description('verify all sealed rows against the chain and its signatures; exits 1 on any finding')
    .action(async (_options, command: Command) => {
      const session = openSession(command);
      const verdict = await verifyAll(session);
      if (!verdict.whole) process.exitCode = 1;
      print(session, verdict, () => describe(verdict));
    });
}

async function verifyAll({ client }: Session): Promise<Verification> {
  const sum: Verification = {
    whole: true,
    findings: [],
    segments: 0,
    rows: 0,
    retired_rows: 0,
    next_segment: null,
    head: null,
  };
  let from: number | null = 1;
  while (from !== null) {
    const query = { from_segment: from, segments: SEGMENTS };
    const part: Verification = await unwrap(
      client.GET('/api/v1/admin/audit-logs/verification', { params: { query } }),
    );
    sum.whole &&= part.whole;
    sum.findings.push(...part.findings);
    sum.segments += part.segments;
    sum.rows += part.rows;
    sum.retired_rows += part.retired_rows;
    sum.head = part.head ?? sum.head;
    from = part.next_segment;
  }
  return sum;
}

function describe({ whole, findings, segments, rows, head }: Verification): string {
  const lines = findings.map(
    ({ kind, segment, row_id: row, detail }) =>
      `${kind}  segment ${segment}${row ? `, row ${row}` : ''}  ${detail}`,
  );
  const verdict = whole ? colorize('green', 'OK') : colorize('red', `${findings.length} findings`);
  lines.push(`${rows} rows in ${segments} segments: ${verdict}`);
  // Rows cut off together with their checkpoints are only detected against a head stored elsewhere.
  if (head) lines.push(`head ${head.segment}:${head.head_hash}; store this head hash off-site`);
  return lines.join('\n');
}
