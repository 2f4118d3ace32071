import type { FinishedLogin } from '../../platform/auth/oidc-login.ts';
import { hashSecret } from '../../platform/auth/secrets.ts';
import { createSignIn, endSignIn, type BrowserDetails } from '../../platform/auth/sign-ins.ts';
import { recordAudit } from '../../platform/audit/record.ts';
import { inScope } from '../../platform/db/scope.ts';
import { Problem } from '../../platform/http/problem.ts';
import type { Services } from '../../platform/services.ts';
import { readInvitationLink } from '../tenancy/invitations/invitation-link.ts';
import { signIn } from '../tenancy/sign-in.ts';

export interface LoginAttempt {
  browser: BrowserDetails;
  correlationId: string;
  /** The browser's earlier sign-in, which ends here. */
  formerSignIn: string | undefined;
}

/** Completes a sign-in that the provider confirmed. Success and refusal are both recorded. */
export async function finishLogin(
  services: Services,
  attempt: LoginAttempt,
  login: () => Promise<FinishedLogin>,
): Promise<{ signIn: { secret: string; expiresAt: Date }; returnTo: string }> {
  try {
    const { identity, idToken, ...finished } = await login();
    const { token, returnTo } = readInvitationLink(finished.returnTo);
    const made = await inScope(services.db, { role: 'gpuaas_auth' }, async (tx) => {
      const userId = await signIn(tx, identity, token);
      if (attempt.formerSignIn) await endSignIn(tx, services.sealer, hashSecret(attempt.formerSignIn));
      const created = await createSignIn(tx, services, {
        userId,
        ...attempt.browser,
        issuer: identity.issuer,
        ...(idToken === null ? {} : { idToken }),
      });
      await recordAudit(tx, {
        actorUserId: userId,
        actorRole: 'user',
        action: 'sign_in.begin',
        targetType: 'sign_in',
        targetId: created.id,
        organizationId: identity.tenant?.organizationId ?? null,
        result: 'succeeded',
        correlationId: attempt.correlationId,
        detail: { issuer: identity.issuer, ip: attempt.browser.ip },
      });
      return created;
    });
    return { signIn: made, returnTo };
  } catch (error) {
    await recordDenial(services, attempt, error);
    throw error;
  }
}

async function recordDenial({ denials }: Services, attempt: LoginAttempt, error: unknown): Promise<void> {
  const problem = error instanceof Problem ? error : null;
  await denials.record({
    actorUserId: null,
    actorRole: 'anonymous',
    action: 'sign_in.begin',
    targetType: 'sign_in',
    targetId: 'unknown',
    result: problem ? 'denied' : 'failed',
    ip: attempt.browser.ip,
    actorKind: 'anonymous',
    correlationId: attempt.correlationId,
    detail: {
      code: problem?.code ?? 'internal_error',
      reason: problem?.message ?? '',
      ip: attempt.browser.ip,
    },
  });
}
