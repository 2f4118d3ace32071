import type { Command } from 'commander';
import { print } from '../print.ts';
import { openSession } from '../session.ts';
import {
  placeOfTokens,
  readTokens,
  withTokensLocked,
  writeTokens,
  type KeptTokens,
} from '../sign-in/kept-tokens.ts';

export function addLogout(program: Command): void {
  program
    .command('logout')
    .description('forget the tokens of the last login')
    .action(async (_options, command: Command) => {
      const session = openSession(command);
      const { signIn } = session.context;
      const wasSignedIn = placeOfTokens(signIn) !== null;
      const tokens = await withTokensLocked(async () => {
        // A keyring that stays locked must not keep anybody signed in here.
        const kept = await readTokens(signIn).catch(() => null);
        await writeTokens(signIn, null);
        return kept;
      });
      // They are gone from here whether or not the provider can be told.
      const revoked =
        tokens !== null &&
        (await revoke(tokens).then(
          () => true,
          () => false,
        ));
      print(session, { signed_out: wasSignedIn, revoked }, () =>
        !wasSignedIn
          ? 'You were not signed in.'
          : `Signed out.${revoked ? '' : ' The identity provider could not be told.'}`,
      );
    });
}

async function revoke(tokens: KeptTokens): Promise<void> {
  const { revokeTokens } = await import('../sign-in/device-flow.ts');
  await revokeTokens(tokens);
}
