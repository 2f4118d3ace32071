import type { Command } from 'commander';
import { print } from '../../print.ts';
import { openSession } from '../../session.ts';
import {
  tokenStorage,
  readTokens,
  withTokensLocked,
  writeTokens,
  type StoredTokens,
} from '../../sign-in/stored-tokens.ts';

export function addLogout(program: Command): void {
  program
    .command('logout')
    .description('sign out and delete stored tokens')
    .action(async (_options, command: Command) => {
      const session = openSession(command);
      const { signIn } = session.context;
      const wasSignedIn = tokenStorage(signIn) !== null;
      const tokens = await withTokensLocked(async () => {
        // A locked keyring must not keep the person signed in here.
        const kept = await readTokens(signIn).catch(() => null);
        await writeTokens(signIn, null);
        return kept;
      });
      // They are deleted here even if the provider cannot be reached.
      const revoked =
        tokens !== null &&
        (await revoke(tokens).then(
          () => true,
          () => false,
        ));
      print(session, { signed_out: wasSignedIn, revoked }, () =>
        !wasSignedIn
          ? 'You were not signed in.'
          : `Signed out.${revoked ? '' : ' The identity provider could not be notified.'}`,
      );
    });
}

async function revoke(tokens: StoredTokens): Promise<void> {
  const { revokeTokens } = await import('../../sign-in/device-flow.ts');
  await revokeTokens(tokens);
}
