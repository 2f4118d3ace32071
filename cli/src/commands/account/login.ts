import type { Command } from 'commander';
import { createGpuaasClient } from '@gpuaas/sdk/client';
import { unwrap } from '@gpuaas/sdk/problem';
import { saveContextFor } from '../../contexts/save-context.ts';
import { print } from '../../print.ts';
import { openSession } from '../../session.ts';
import type { Prompt } from '../../sign-in/device-flow.ts';
import { withTokensLocked, writeTokens } from '../../sign-in/stored-tokens.ts';

export function addLogin(program: Command): void {
  program
    .command('login')
    .description('sign in with a browser on this or another machine')
    .option('--email <address>', 'your e-mail address, if your organization uses single sign-on')
    .action(async (options: { email?: string }, command: Command) => {
      const session = openSession(command);
      const { client, context, json, url } = session;
      const configuration = await unwrap(
        client.GET('/api/v1/auth/configuration', {
          params: { query: options.email ? { email: options.email } : {} },
        }),
      );
      const { signInByDevice } = await import('../../sign-in/device-flow.ts');
      const tokens = await signInByDevice(configuration, (prompt) => show(prompt, json));
      const signedIn = createGpuaasClient({ baseUrl: url, apiKey: tokens.access_token });
      const { user } = await unwrap(signedIn.GET('/api/v1/me'));
      await withTokensLocked(() => writeTokens(context.signIn, tokens));
      const name = context.name ?? saveContextFor(url);
      print(
        session,
        { user, context: name },
        () => `Signed in as ${user?.name} <${user?.email}>, in the context ${name}.`,
      );
    });
}

/** Apart from the answer, so that a program can read either. */
function show(prompt: Prompt, json: boolean): void {
  if (json) return console.error(JSON.stringify(prompt));
  console.error(`Open ${prompt.verification_uri}\nand enter the code  ${prompt.user_code}`);
  if (prompt.verification_uri_complete) console.error(`or open ${prompt.verification_uri_complete}`);
  console.error('Waiting …');
}
