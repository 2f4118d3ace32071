import type { AuditEntry } from './record.ts';

interface Actor {
  actorId: string | null;
  role: string;
  credential?: { kind: string; id?: string; idHash?: Buffer; subject?: string };
}

/** Actor, credential and source of a request, for the audit log. */
export function auditActor(
  actor: Actor,
  request: { ip: string },
): Pick<AuditEntry, 'actorKind' | 'credentialId' | 'ip'> {
  return { actorKind: kindOf(actor), credentialId: credentialOf(actor), ip: request.ip };
}

function kindOf({ actorId, role, credential }: Actor): NonNullable<AuditEntry['actorKind']> {
  if (credential?.kind === 'service_account_token' || role.startsWith('service_account:'))
    return 'service_account';
  if (actorId !== null) return 'user';
  return role === 'node' ? 'node' : 'anonymous';
}

/** A sign-in has no id but its secret; the begin of its hash tells sign-ins apart and opens none. */
function credentialOf({ actorId, credential }: Actor): string | null {
  if (!credential || actorId === null) return null;
  const { kind, id, idHash, subject } = credential;
  return `${kind}:${id ?? idHash?.toString('hex').slice(0, 16) ?? subject ?? ''}`;
}
