import type { Tx } from '../../platform/db/database.ts';

/** No terminal is opened with a token that was minted before. */
export async function revokeTerminalTokens(tx: Tx, allocationId: string): Promise<void> {
  await tx.deleteFrom('terminal_tokens').where('allocation_id', '=', allocationId).execute();
}
