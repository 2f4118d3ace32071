import { afterAll, beforeAll, expect, it } from 'vitest';
import { launch, waitForState } from '../../harness/allocations/allocations.ts';
import { appIs, appLog, publish, runApp, shellManifest, stopApp } from '../../harness/apps/apps.ts';
import { eventually } from '../../harness/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

let platform: TestPlatform;
let allocationId: string;
beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
  const { member, projectId } = platform;
  ({ id: allocationId } = await launch(member, projectId, 1));
  await waitForState(member, allocationId, 'active');
});
afterAll(() => platform?.stop());

/** A script of the guest's Node that asks the platform until its door is open, then prints each status. */
function calls(paths: readonly string[]): string {
  const program = `
    const ask = (path, headers) => fetch(process.env.GPUAAS_URL + path, { headers });
    const own = { authorization: 'Bearer ' + process.env.GPUAAS_API_KEY };
    for (;;) try { await ask('/', {}); break } catch { await new Promise((r) => setTimeout(r, 200)) }
    for (const path of ${JSON.stringify(paths)}) console.log(path, (await ask(path, own)).status);
    console.log('without a token', (await ask('/api/v1/allocations', {})).status);
    console.log('the token', process.env.GPUAAS_API_KEY);
    console.log('asked');`;
  return `node --input-type=module -e '${program.replaceAll("'", `'"'"'`)}'`;
}

const request = (app_slug: string) => ({
  project_id: platform.projectId,
  app_slug,
  allocation_id: allocationId,
});

it('a member reaches the API, with what its manifest declares and no more, while its instance lives', async () => {
  const { operator, member, projectId, baseUrl } = platform;
  const paths = [
    `/api/v1/allocations?project_id=${projectId}`,
    `/api/v1/allocations/${allocationId}`,
    `/api/v1/project-secrets?project_id=${projectId}`,
    '/api/v1/me',
    '/api/v1/api-keys',
    '/',
    '/healthz',
    '/idp/auth',
    '/api/v1/../../idp/auth',
    '/api/v1/%2e%2e/%2e%2e/metrics',
  ];
  const manifest = shellManifest(`${calls(paths)}; echo "$GPUAAS_API_KEY" > ~/token; sleep 1000`, {
    kind: 'service',
    platform_access: ['allocation.read'],
  });
  await publish(operator, 'caller', manifest);
  const { id } = await runApp(member, request('caller'));
  await appIs(member, id, 'running');
  const log = await eventually('the answers', async () => {
    const text = await inGuest('cat ~/.gpuaas/members/*/log.*');
    return text.includes('asked') ? text : null;
  });
  const [list = '', one = '', secrets = '', me = '', keys = ''] = paths;
  expect(log).toContain(`${list} 200\n${one} 200\n${secrets} 403\n${me} 403\n${keys} 403\n`);
  for (const path of paths.slice(5)) expect(log).toContain(`${path} 404\n`);
  expect(log).toContain('without a token 401\n');

  const token = await inGuest('cat ~/token');
  expect(log).toContain(`the token ${token}\n`);
  const ask = async (): Promise<number> => {
    const answer = await fetch(`${baseUrl}${one}`, { headers: { authorization: `Bearer ${token}` } });
    return answer.status;
  };
  expect(await ask()).toBe(200);
  await stopApp(member, id);
  await appIs(member, id, 'stopped');
  expect(await ask()).toBe(401);
  expect(await appLog(member, id)).toContain('the token ***\n');
  await eventually('the door to close', async () => ((await doorIsOpen()) ? null : true));
});

it('an instance whose manifest declares nothing gets no token', async () => {
  const { operator, member } = platform;
  await publish(operator, 'quiet', shellManifest('echo "<$GPUAAS_URL$GPUAAS_API_KEY>"'));
  const { id } = await runApp(member, request('quiet'));
  await appIs(member, id, 'succeeded');
  expect(await appLog(member, id)).toBe('<>\n');
});

async function inGuest(command: string): Promise<string> {
  const { guests } = platform.services;
  const output = await guests.enter(allocationId, (guest) =>
    guest.run({ command, maxBytes: 10_000, deadlineMs: 30_000 }),
  );
  return output.toString('utf8').trim();
}

async function doorIsOpen(): Promise<boolean> {
  const said = await inGuest(
    `node -e "fetch('http://127.0.0.1:6411/').then(() => console.log('open'), () => console.log('closed'))"`,
  );
  return said === 'open';
}
