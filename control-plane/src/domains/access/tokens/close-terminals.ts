import type { Tx } from '../../../platform/db/database.ts';
import type { ReleaseHook } from '../../allocations/release/release-hooks.ts';

/** No terminal is opened with a token that was minted before. */
async function revokeTerminalTokens(tx: Tx, allocationId: string): Promise<void> {
  await tx.deleteFrom('terminal_tokens').where('allocation_id', '=', allocationId).execute();
}

/** Open streams are cut by the event of the release. */
export const closeTerminals: ReleaseHook = {
  requested: revokeTerminalTokens,
  releasing: revokeTerminalTokens,
};
