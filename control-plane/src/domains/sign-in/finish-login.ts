import type { FinishedLogin } from '../../platform/auth/oidc-login.ts';
import { hashSecret } from '../../platform/auth/secrets.ts';
import { createSession, endSession, type BrowserDetails } from '../../platform/auth/sessions.ts';
import { recordAudit } from '../../platform/audit/record.ts';
import { inScope } from '../../platform/db/scope.ts';
import { Problem } from '../../platform/http/problem.ts';
import type { Services } from '../../platform/services.ts';
import { takeInvitation } from '../tenancy/invitations/invitation-link.ts';
import { signIn } from '../tenancy/sign-in.ts';

export interface LoginAttempt {
  browser: BrowserDetails;
  correlationId: string;
  /** The session the browser came with, which ends here. */
  formerSession: string | undefined;
}

/** A session for whom the provider vouches. Whatever comes of it is on record. */
export async function finishLogin(
  services: Services,
  attempt: LoginAttempt,
  login: () => Promise<FinishedLogin>,
): Promise<{ session: { secret: string; expiresAt: Date }; returnTo: string }> {
  try {
    const { identity, idToken, ...finished } = await login();
    const { token, returnTo } = takeInvitation(finished.returnTo);
    const session = await inScope(services.db, { role: 'gpuaas_auth' }, async (tx) => {
      const userId = await signIn(
        tx,
        identity,
        token === null ? null : { token, correlationId: attempt.correlationId, ip: attempt.browser.ip },
      );
      if (attempt.formerSession) await endSession(tx, services.sealer, hashSecret(attempt.formerSession));
      const made = await createSession(tx, services, {
        userId,
        ...attempt.browser,
        issuer: identity.issuer,
        idToken,
      });
      await recordAudit(tx, {
        actorUserId: userId,
        actorRole: 'user',
        action: 'session.login',
        targetType: 'session',
        targetId: made.id,
        organizationId: identity.tenant?.organizationId ?? null,
        result: 'succeeded',
        correlationId: attempt.correlationId,
        detail: { issuer: identity.issuer, ip: attempt.browser.ip },
      });
      return made;
    });
    return { session, returnTo };
  } catch (error) {
    await recordDenial(services, attempt, error);
    throw error;
  }
}

async function recordDenial({ db, log }: Services, attempt: LoginAttempt, error: unknown): Promise<void> {
  const problem = error instanceof Problem ? error : null;
  try {
    await inScope(db, { role: 'gpuaas_auth' }, (tx) =>
      recordAudit(tx, {
        actorUserId: null,
        actorRole: 'anonymous',
        action: 'session.login',
        targetType: 'session',
        targetId: 'unknown',
        result: problem ? 'denied' : 'failed',
        correlationId: attempt.correlationId,
        detail: {
          code: problem?.code ?? 'internal_error',
          reason: problem?.message ?? '',
          ip: attempt.browser.ip,
        },
      }),
    );
  } catch (failure) {
    log.error(
      { err: failure, correlation_id: attempt.correlationId },
      'the denied sign-in could not be audited',
    );
  }
}
