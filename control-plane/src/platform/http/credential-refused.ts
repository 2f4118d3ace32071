import type { ProblemCode } from '@gpuaas/contracts/generated/problems.ts';
import type { AuditEntry } from '../audit/record.ts';
import { Problem } from './problem.ts';

/** Whose credential it is, as the audit log tells it. */
export type Refused = Required<
  Pick<AuditEntry, 'actorUserId' | 'actorKind' | 'actorRole' | 'credentialId' | 'organizationId'>
>;

/** A credential that is known and still does not serve: what it was tried for is on record. */
export class CredentialRefused extends Problem {
  readonly refused: Refused;
  readonly reason: string;

  constructor(code: ProblemCode, detail: string, options: { refused: Refused; reason: string }) {
    super(code, detail);
    this.refused = options.refused;
    this.reason = options.reason;
  }
}
