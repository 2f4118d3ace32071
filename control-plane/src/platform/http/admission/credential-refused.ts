import type { ProblemCode } from '@gpuaas/contracts/generated/problems.ts';
import type { AuditEntry } from '../../audit/record.ts';
import { Problem } from '../problem.ts';

/** Owner of the credential, for the audit log. */
export type CredentialOwner = Required<
  Pick<AuditEntry, 'actorUserId' | 'actorKind' | 'actorRole' | 'credentialId' | 'organizationId'>
> &
  /** The attempted action, if it is not the operation. */
  Partial<Pick<AuditEntry, 'action' | 'targetType' | 'targetId'>>;

/** A known credential that is refused; the attempt is audited. */
export class CredentialRefusedError extends Problem {
  readonly refused: CredentialOwner;
  readonly reason: string;

  constructor(code: ProblemCode, detail: string, options: { refused: CredentialOwner; reason: string }) {
    super(code, detail);
    this.refused = options.refused;
    this.reason = options.reason;
  }
}
