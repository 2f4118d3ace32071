import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { auditActor } from '../../platform/audit/actor.ts';
import type { Caller } from '../../platform/auth/caller.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import type { Services } from '../../platform/services.ts';
import { findAllocation } from '../allocations/find-allocation.ts';
import { readConsoleLog } from './read-console-log.ts';
import { listRecordings, readRecording } from './recordings/list-recordings.ts';
import { mintStreamToken } from './streams/stream-token.ts';
import { mintTerminalToken } from './tokens/mint-terminal-token.ts';
import type { TerminalTokens } from './tokens/terminal-tokens.ts';
import type { TunnelHub } from './tunnel/tunnel-hub.ts';

export const TERMINAL_PATH = '/api/v1/terminal';
export const CLIENT_STREAM_PATH = '/api/v1/streams';

type TerminalOperations = Pick<
  operations,
  | 'createTerminalToken'
  | 'createStreamToken'
  | 'getConsoleLog'
  | 'listTerminalRecordings'
  | 'getTerminalRecording'
>;

export function terminalRoutes(
  services: Services,
  tokens: TerminalTokens,
  gateway: { services: Services; hub: TunnelHub },
): Handlers<TerminalOperations, Caller> {
  return {
    async getConsoleLog({ caller, params, correlationId, request, read }) {
      const allocation = await read((tx) =>
        findAllocation(tx, caller, 'allocation.connect', params.allocation_id),
      );
      const source = { ...auditActor(caller, request), correlationId };
      const body = await readConsoleLog(gateway, caller, allocation, source);
      return { status: 200, body, mediaType: 'text/plain; charset=utf-8' };
    },
    listTerminalRecordings({ caller, params, query, read }) {
      return read(async (tx) => ({
        status: 200,
        body: await listRecordings(tx, caller, params.allocation_id, query),
      }));
    },
    getTerminalRecording({ caller, params: { allocation_id, recording_id }, read }) {
      return read(async (tx) => ({
        status: 200,
        body: await readRecording(services.sealer, tx, caller, allocation_id, recording_id),
        mediaType: 'application/x-asciicast',
      }));
    },
    createTerminalToken({ caller, params, correlationId, audit, mutate }) {
      const target = { targetType: 'allocation', targetId: params.allocation_id };
      audit(target);
      return mutate(async (tx) => {
        const minted = await mintTerminalToken(services, tokens, tx, caller, {
          allocationId: params.allocation_id,
          correlationId,
        });
        audit({ ...target, organizationId: minted.organizationId });
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
    createStreamToken({ caller, params, body, correlationId, audit, mutate }) {
      const { port } = body;
      const target = { targetType: 'allocation', targetId: params.allocation_id, detail: { port } };
      audit(target);
      return mutate(async (tx) => {
        const { token, expiresAt, organizationId } = await mintStreamToken(services, tx, caller, {
          allocationId: params.allocation_id,
          port,
          correlationId,
        });
        audit({ ...target, organizationId });
        const shown = { expires_at: expiresAt.toISOString(), websocket_path: CLIENT_STREAM_PATH };
        return {
          status: 201,
          body: { ...shown, token },
          replayBody: { ...shown, token: null, secret_already_shown: true },
        };
      });
    },
  };
}
