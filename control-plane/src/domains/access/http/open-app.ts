import { recordAudit } from '../../../platform/audit/record.ts';
import { findCredential, SIGN_IN } from '../../tenancy/credentials/credentials.ts';
import { hashSecret } from '../../../platform/auth/secrets.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import { AccessRefusedError, findOpenSubject } from '../access-watch.ts';
import type { AppDirectory } from './app-directory.ts';
import { appDoor } from './app-door.ts';
import { mintAppTicket } from './app-tickets.ts';
import type { App } from './app.ts';

export interface OpenAttempt {
  label: string;
  /** The secret in the console's cookie. */
  signIn: string | undefined;
  attempt: string;
  correlationId: string;
  ip: string;
}

/**
 * A ticket for a person who is signed in at the console and may use the app; null for anybody who is not signed in.
 * `services` are the gateway's.
 */
export async function openApp(
  services: Services,
  apps: AppDirectory,
  { label, signIn, attempt, correlationId, ip }: OpenAttempt,
): Promise<{ app: App; ticket: string } | null> {
  const { db, database, policies, clock } = services;
  if (signIn === undefined) return null;
  const idHash = hashSecret(signIn);
  const idleSeconds = policies.get('auth.sign_in_idle_seconds');
  const person = await findCredential(database.identities, SIGN_IN, idHash, idleSeconds);
  if (!person) return null;
  const app = await apps.byLabel(db, label);
  if (!app) throw new Problem('not_found', 'There is no app at this address.');
  const credential = { kind: 'sign_in', csrfToken: '', idHash, idleSeconds } as const;
  const holder = { actorId: person.id, credential };
  const door = { ...appDoor(apps), isOpen: () => true };
  const audited = {
    actorUserId: person.id,
    actorRole: 'user',
    organizationId: app.organizationId,
    action: 'app_instance.open',
    targetType: 'app_instance',
    targetId: app.instanceId,
    ip,
    correlationId,
  };
  try {
    await findOpenSubject(db, door, { ...holder, subjectId: app.instanceId });
  } catch (error) {
    if (!(error instanceof AccessRefusedError)) throw error;
    await services.denials.record({ ...audited, result: 'denied', detail: { reason: error.message } });
    throw new Problem('forbidden', error.message);
  }
  return await db.transaction().execute(async (tx) => {
    await recordAudit(tx, { ...audited, result: 'succeeded' });
    return { app, ticket: await mintAppTicket(tx, clock, app, holder, attempt) };
  });
}
