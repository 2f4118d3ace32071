import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { toCliCommand, toCurlCommand } from './equivalent-commands.ts';

const body = {
  project_id: 'p1',
  sku: 'h200-sxm-slice',
  gpu_count: 2,
  image: 'ubuntu',
  region: 'uae-north-1',
  ssh_key_ids: ['k1', 'k2'],
  max_duration_seconds: 3600,
};

test('the command line equals the form', () => {
  expect(toCliCommand(body).replaceAll(' \\\n  ', ' ')).toBe(
    'gpuaas allocations create --project p1 --sku h200-sxm-slice --gpu-count 2 --image ubuntu ' +
      '--region uae-north-1 --max-duration-seconds 3600 --ssh-key-ids k1 k2',
  );
});

test('user-data is a file for the command line, and survives the quotes of a shell in the call', () => {
  const scripted = { ...body, user_data: "#!/bin/sh\necho 'hello'\n" };
  expect(toCliCommand(scripted)).toContain('--user-data @user-data.txt');
  const call = toCurlCommand(scripted, 'https://cloud.example');
  const quoted = call.slice(call.indexOf("-d '") + 3);
  expect(JSON.parse(execFileSync('sh', ['-c', `printf %s ${quoted}`], { encoding: 'utf8' }))).toEqual(
    scripted,
  );
});

test('the call carries the body as it would be sent', () => {
  const call = toCurlCommand(body, 'https://cloud.example');
  expect(call).toContain('https://cloud.example/api/v1/allocations');
  const sent: unknown = JSON.parse(call.slice(call.indexOf("-d '") + 4, -1));
  expect(sent).toEqual(body);
});
