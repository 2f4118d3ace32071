import { Argument, InvalidArgumentError, type Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { untypedRequest } from '../contract-commands/call-operation.ts';
import { readBody } from '../contract-commands/read-body.ts';
import { openSession } from '../session.ts';

/** For operations without a command, and for scripts that work with requests. */
export function addApi(program: Command): void {
  program
    .command('api')
    .description('send an authenticated request and print the raw response')
    .addArgument(new Argument('<method>').choices(['get', 'post', 'put', 'patch', 'delete']))
    .argument('<path>', 'for example /api/v1/me', absolutePath)
    .option('--body <json>', 'JSON, @file or - for standard input')
    .action(async (method: string, path: string, options: { body?: string }, command: Command) => {
      const { client } = openSession(command);
      const answer = await unwrap(
        untypedRequest(client)(method, path, {
          params: { path: {}, query: {} },
          parseAs: 'text',
          ...(options.body !== undefined && { body: await readBody(options.body) }),
        }),
      );
      if (typeof answer === 'string') process.stdout.write(answer.replace(/\n?$/, '\n'));
    });
}

/** Never another host: the credential goes with the request. */
function absolutePath(text: string): string {
  if (!/^\/(?!\/)/.test(text)) throw new InvalidArgumentError('pass a path, for example /api/v1/me');
  return text;
}
