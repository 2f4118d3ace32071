import type { Tx } from '../../platform/db/database.ts';
import { lastSegment } from '../../platform/audit/checkpoint.ts';
import { readSealLag } from '../../platform/audit/seal-lag.ts';
import { verifyAudit, type ChainFinding } from '../../platform/audit/verify.ts';
import type { Services } from '../../platform/services.ts';
import type { Tick } from '../../platform/ticks/tick.ts';
import { openIncident, resolveIncident } from '../incidents/open-incident.ts';
import { present } from '../../platform/present.ts';

const LOG = { targetType: 'audit_log', targetId: 'audit_log' } as const;

/** Opens an incident while the sealer is behind its deadline. */
export const watchSealLag: Tick<Services> = {
  name: 'audit.watch_seal_lag',
  everySeconds: 30,
  catchUp: 'skip',
  async run({ db, clock, policies }) {
    const { seconds, unsealedRows } = await readSealLag(db);
    const deadline = policies.get('audit.seal_deadline_seconds');
    await db.transaction().execute(async (tx: Tx) => {
      if (seconds <= deadline) {
        const incident = { type: 'audit_seal_late', targetId: LOG.targetId } as const;
        await resolveIncident(tx, clock.now(), incident, 'Every row that is due is sealed.');
        return;
      }
      await openIncident(tx, clock.now(), {
        ...LOG,
        type: 'audit_seal_late',
        summary: `${unsealedRows} audit rows are not sealed, the oldest for ${Math.round(seconds)} s.`,
        detail: { unsealed_rows: unsealedRows, seconds: Math.round(seconds), deadline_seconds: deadline },
      });
    });
  },
};

const WINDOW_SEGMENTS = 50;
const EVERY_SECONDS = 300;

/** Verifies a window of the log on each run and, over many runs, all of it; the newest segments always. */
export const verifyChainTick: Tick<Services> = {
  name: 'audit.verify_in_turns',
  everySeconds: EVERY_SECONDS,
  catchUp: 'skip',
  async run(services, { from }) {
    const { db, keys } = services;
    const last = (await lastSegment(db))?.segment ?? 0n;
    if (last === 0n) return;
    const windows = Math.ceil(Number(last) / WINDOW_SEGMENTS);
    const turn = Math.floor(from.getTime() / 1000 / EVERY_SECONDS) % windows;
    const starts = new Set([turn, windows - 1].map((window) => BigInt(window * WINDOW_SEGMENTS + 1)));
    for (const start of starts) {
      const { findings } = await verifyAudit(db, {
        publicKey: keys.audit.publicPem,
        from: start,
        segments: WINDOW_SEGMENTS,
      });
      if (findings.length > 0) await report(services, findings);
    }
  },
};

/** The incident never closes automatically: a person must explain the finding. */
async function report({ db, clock, log }: Services, findings: ChainFinding[]): Promise<void> {
  log.error({ findings: findings.slice(0, 10) }, 'the audit log does not verify');
  const first = present(findings[0], 'finding');
  await db.transaction().execute((tx) =>
    openIncident(tx, clock.now(), {
      ...LOG,
      type: 'audit_chain_broken',
      dedupeBy: `segment:${first.segment}`,
      summary: `The audit log does not verify: ${first.kind} in segment ${first.segment}. ${first.detail}`,
      detail: { findings: findings.slice(0, 20) },
    }),
  );
}
