import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { verifyAudit } from '../../platform/audit/verify.ts';
import { atPlatform, authorize, type Caller } from '../../platform/auth/caller.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import type { Services } from '../../platform/services.ts';
import { confirmExport } from './confirm-export.ts';
import { exportAuditLogs } from './export-audit-logs.ts';
import { listAuditLogs } from './list-audit-logs.ts';
import { listCheckpoints } from './list-checkpoints.ts';

type AuditOperations = Pick<
  operations,
  | 'listAuditLogs'
  | 'listOrganizationAuditLogs'
  | 'exportAuditLogs'
  | 'confirmAuditExport'
  | 'listAuditCheckpoints'
  | 'verifyAuditLogs'
>;

export function auditRoutes({ keys }: Services): Handlers<AuditOperations, Caller> {
  return {
    async listAuditLogs({ caller, query, read }) {
      authorize(caller, 'audit.read', atPlatform);
      return { status: 200, body: await read((tx) => listAuditLogs(tx, query)) };
    },
    async listOrganizationAuditLogs({ caller, params, query, read }) {
      const { organization_id } = params;
      authorize(caller, 'tenant_audit.read', { kind: 'tenant', organizationId: organization_id });
      const filters = { ...query, organization_id };
      return { status: 200, body: await read((tx) => listAuditLogs(tx, filters)) };
    },
    async exportAuditLogs({ caller, query, read }) {
      authorize(caller, 'audit.read', atPlatform);
      const body = await read((tx) => exportAuditLogs(tx, { segments: 1, ...query }));
      return { status: 200, body, mediaType: 'application/jsonl' };
    },
    confirmAuditExport({ caller, body, audit, mutate }) {
      audit({ targetType: 'audit_month', targetId: body.month, detail: { head_hash: body.head_hash } });
      return mutate(async (tx) => {
        authorize(caller, 'audit.export', atPlatform);
        return { status: 201, body: await confirmExport(tx, { ...body, callerId: caller.id }) };
      });
    },
    async listAuditCheckpoints({ caller, query, read }) {
      authorize(caller, 'audit.read', atPlatform);
      const page = await read((tx) => listCheckpoints(tx, query));
      return { status: 200, body: { ...page, public_key_pem: keys.audit.publicPem } };
    },
    async verifyAuditLogs({ caller, query, read }) {
      authorize(caller, 'audit.verify', atPlatform);
      const { from_segment = 1, segments = 20 } = query;
      const found = await read((tx) =>
        verifyAudit(tx, { publicKey: keys.audit.publicPem, from: BigInt(from_segment), segments }),
      );
      return {
        status: 200,
        body: {
          whole: found.findings.length === 0,
          findings: found.findings
            .slice(0, 2000)
            .map(({ rowId, ...finding }) => ({ ...finding, row_id: rowId })),
          segments: found.segments,
          rows: found.rows,
          retired_rows: found.retiredRows,
          next_segment: found.nextSegment === null ? null : Number(found.nextSegment),
          head: found.head,
        },
      };
    },
  };
}
