import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../platform/auth/caller.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import type { Services } from '../../platform/services.ts';
import { mintTerminalToken } from './mint-terminal-token.ts';

export const TERMINAL_PATH = '/api/v1/terminal';

export function terminalRoutes(
  services: Services,
): Handlers<Pick<operations, 'createTerminalToken'>, Caller> {
  return {
    createTerminalToken({ caller, params, correlationId, audit, mutate }) {
      audit({ targetType: 'allocation', targetId: params.allocation_id });
      return mutate(async (tx) => {
        const minted = await mintTerminalToken(services, tx, caller, params.allocation_id, correlationId);
        audit({
          targetType: 'allocation',
          targetId: params.allocation_id,
          organizationId: minted.organizationId,
        });
        return {
          status: 201,
          body: {
            token: minted.token,
            expires_at: minted.expiresAt.toISOString(),
            websocket_path: TERMINAL_PATH,
          },
        };
      });
    },
  };
}
