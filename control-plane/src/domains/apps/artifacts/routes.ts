import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { AuditTarget, Handlers } from '../../../platform/http/operation.ts';
import { streamOf } from '../../../platform/http/strict-body.ts';
import type { Services } from '../../../platform/services.ts';
import { describeArtifact, describeArtifacts } from './describe-artifact.ts';
import { inspectArtifact, inspectRegistered, readAhead, type Read } from './inspect-artifact.ts';
import { listArtifacts } from './list-artifacts.ts';
import {
  auditTarget,
  findArtifact,
  lockArtifact,
  type ArtifactMove,
  type ArtifactRow,
} from './move-artifact.ts';
import { checkDraft, promoteArtifact, recordTrust } from './promote-artifact.ts';
import { registerArtifact, resolveArtifact } from './register-artifact.ts';
import { deprecateArtifact, retireArtifact } from './retire-artifact.ts';
import { rollBackArtifact } from './roll-back-artifact.ts';
import { startSmokeRun } from './smoke-runs/start-smoke-run.ts';
import { receiveUpload, recordUpload } from './upload-artifact.ts';

/** As the contract says (`x-max-stream-bytes`). */
const MAX_PAYLOAD_BYTES = 512 * 1024 * 1024;

type ArtifactOperations = Pick<
  operations,
  | 'listAppArtifacts'
  | 'getAppArtifact'
  | 'putAppArtifact'
  | 'registerAppArtifact'
  | 'verifyAppArtifact'
  | 'stageAppArtifact'
  | 'startAppArtifactSmokeRun'
  | 'promoteAppArtifact'
  | 'rollBackAppArtifact'
  | 'deprecateAppArtifact'
  | 'retireAppArtifact'
>;

interface Moved {
  row: ArtifactRow;
  move: ArtifactMove;
}

/** `host` is the name of the registry in references to artifacts. */
export function appArtifactRoutes(services: Services, host: string): Handlers<ArtifactOperations, Caller> {
  const { policies } = services;
  const publisher = (caller: Caller): void => authorize(caller, 'app_manifest.manage', atPlatform);
  const described = (tx: Tx, row: ArtifactRow) => describeArtifact({ policies, host }, tx, row);
  const targetOf = (digest: string): AuditTarget => ({ targetType: 'app_artifact', targetId: digest });
  const inspected = (caller: Caller, read: Read, digest: string) =>
    readAhead(async () => {
      publisher(caller);
      return await inspectArtifact(services, read, digest);
    });
  /** The reply to a move, whose audit row is that of the operation. */
  const replyTo = async (tx: Tx, { row, move }: Moved, audit: (target: AuditTarget) => void) => {
    audit(auditTarget(move));
    return { status: 200 as const, body: await described(tx, row) };
  };
  return {
    listAppArtifacts({ caller, query, read }) {
      publisher(caller);
      return read(async (tx) => {
        const { rows, next_page } = await listArtifacts(tx, query);
        return {
          status: 200,
          body: { items: await describeArtifacts({ policies, host }, tx, rows), next_page },
        };
      });
    },
    getAppArtifact({ caller, params, read }) {
      publisher(caller);
      return read(async (tx) => ({
        status: 200,
        body: await described(tx, await findArtifact(tx, params.artifact_digest)),
      }));
    },
    async putAppArtifact({ caller, params, query, request, audit, mutate }) {
      const digest = params.artifact_digest;
      audit(targetOf(digest));
      publisher(caller);
      const { kind = 'file' } = query;
      const wanted = { digest, kind, maxBytes: MAX_PAYLOAD_BYTES };
      const received = await receiveUpload(services, streamOf(request), wanted);
      return await mutate(async (tx) => {
        const row = await recordUpload(services, tx, caller, received);
        audit({ ...targetOf(row.digest), after: { state: row.state }, detail: { payload_digest: digest } });
        return { status: 200, body: await described(tx, row) };
      });
    },
    async registerAppArtifact({ caller, body, audit, read, mutate }) {
      audit({ ...targetOf(body.repository), detail: { reference: body.reference } });
      const resolving = await readAhead(async () => {
        publisher(caller);
        const artifact = await resolveArtifact(services, read, body);
        return { artifact, inspection: await inspectRegistered(services, read, artifact) };
      });
      return await mutate(async (tx) => {
        const { artifact: resolved, inspection } = await resolving.result;
        const { row, fresh } = await registerArtifact(tx, caller, resolved);
        audit({ ...targetOf(row.digest), after: { state: row.state }, detail: { ...body } });
        const judged = fresh ? await recordTrust(services, tx, row, inspection) : row;
        return { status: 200, body: await described(tx, judged) };
      });
    },
    async verifyAppArtifact({ caller, params, audit, read, mutate }) {
      const digest = params.artifact_digest;
      audit(targetOf(digest));
      const inspection = await inspected(caller, read, digest);
      return await mutate(async (tx) => {
        const found = await inspection.result;
        const before = await lockArtifact(tx, digest);
        const after = await recordTrust(services, tx, before, found);
        audit({
          ...targetOf(digest),
          before: { verdict: before.trust_verdict },
          after: { verdict: after.trust_verdict },
        });
        return { status: 200, body: await described(tx, after) };
      });
    },
    async stageAppArtifact({ caller, params, body, audit, read, mutate }) {
      const digest = params.artifact_digest;
      audit(targetOf(digest));
      const inspection = await inspected(caller, read, digest);
      return await mutate(async (tx) => {
        const found = await inspection.result;
        if (body.waive_smoke_run) authorize(caller, 'policy.manage', atPlatform);
        const waiver = body.waive_smoke_run ? body.reason : null;
        const step = { to: 'staged', reason: body.reason, waiver } as const;
        const row = await lockArtifact(tx, digest);
        return await replyTo(tx, await promoteArtifact(services, tx, row, step, found), audit);
      });
    },
    async startAppArtifactSmokeRun({ caller, params, body, request, audit, read, mutate }) {
      const digest = params.artifact_digest;
      audit(targetOf(digest));
      const inspection = await inspected(caller, read, digest);
      return await mutate(async (tx) => {
        const found = await inspection.result;
        const row = await lockArtifact(tx, digest);
        await checkDraft(services, tx, row, found);
        await startSmokeRun(services, tx, caller, row, { ...body, correlationId: request.id });
        const artifact = await described(tx, row);
        audit({
          ...targetOf(digest),
          detail: { reason: body.reason, app_instance_id: artifact.smoke_run?.app_instance_id },
        });
        return { status: 202, body: artifact };
      });
    },
    async promoteAppArtifact({ caller, params, body, audit, read, mutate }) {
      const digest = params.artifact_digest;
      audit(targetOf(digest));
      const inspection = await inspected(caller, read, digest);
      return await mutate(async (tx) => {
        const found = await inspection.result;
        const row = await lockArtifact(tx, digest);
        return await replyTo(tx, await promoteArtifact(services, tx, row, body, found), audit);
      });
    },
    rollBackAppArtifact({ caller, params, body, audit, mutate }) {
      const digest = params.artifact_digest;
      audit(targetOf(digest));
      return mutate(async (tx) => {
        publisher(caller);
        const { apps, ...moved } = await rollBackArtifact(services, tx, digest, body.reason);
        audit({ ...auditTarget(moved.move), detail: { reason: body.reason, apps } });
        return { status: 200, body: await described(tx, moved.row) };
      });
    },
    deprecateAppArtifact({ caller, params, body, audit, mutate }) {
      audit(targetOf(params.artifact_digest));
      return mutate(async (tx) => {
        publisher(caller);
        const row = await lockArtifact(tx, params.artifact_digest);
        return await replyTo(tx, await deprecateArtifact(services, tx, row, body.reason), audit);
      });
    },
    retireAppArtifact({ caller, params, body, audit, mutate }) {
      audit(targetOf(params.artifact_digest));
      return mutate(async (tx) => {
        publisher(caller);
        const row = await lockArtifact(tx, params.artifact_digest);
        return await replyTo(tx, await retireArtifact(services, tx, row, body.reason), audit);
      });
    },
  };
}
