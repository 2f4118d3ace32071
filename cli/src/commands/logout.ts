import type { Command } from 'commander';
import { print } from '../print.ts';
import { openSession } from '../session.ts';
import { revokeTokens } from '../sign-in/device-flow.ts';
import { readTokens, withTokensLocked, writeTokens } from '../sign-in/kept-tokens.ts';

export function addLogout(program: Command): void {
  program
    .command('logout')
    .description('forget the tokens of the last login')
    .action(async (_options, command: Command) => {
      const { json, url } = openSession(command);
      const tokens = await withTokensLocked(async () => {
        const kept = await readTokens(url);
        await writeTokens(url, null);
        return kept;
      });
      // They are gone from here whether or not the provider can be told.
      const revoked =
        tokens !== null &&
        (await revokeTokens(tokens).then(
          () => true,
          () => false,
        ));
      print(json, { signed_out: tokens !== null, revoked }, () =>
        tokens === null
          ? 'You were not signed in.'
          : `Signed out.${revoked ? '' : ' The identity provider could not be told.'}`,
      );
    });
}
