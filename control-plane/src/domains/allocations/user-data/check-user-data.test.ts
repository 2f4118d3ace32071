import { describe, expect, it } from 'vitest';
import { Problem } from '../../../platform/http/problem.ts';
import { checkUserData } from './check-user-data.ts';

function refusal(text: string): Problem {
  try {
    checkUserData(text, 'gpu_slice');
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('it was taken');
}

describe('user-data of tenants', () => {
  it.each([
    ['a script', '#!/bin/bash\nusers: whatever a script says\n'],
    ['cloud-config', '#cloud-config\npackages: [tmux]\nruncmd:\n  - [echo, hi]\nwrite_files: []\n'],
    ['cloud-config that says nothing', '#cloud-config\n'],
    ['line ends of another system', '#cloud-config\r\ntimezone: UTC\r\n'],
  ])('is taken: %s', (_, text) => {
    expect(() => checkUserData(text, 'gpu_slice')).not.toThrow();
  });

  it.each([
    ['users', 'users: [{name: me}]'],
    ['ssh_keys', 'ssh_keys: {}'],
    ['ssh_authorized_keys', '"ssh_authorized_keys": []'],
    ['hostname', '? hostname\n: mine'],
    ['network', 'network: {version: 2}'],
    ['power_state', 'power_state: {mode: poweroff}'],
    ['merge_how', 'merge_how: "list(append)"'],
    ['datasource', '{ datasource: {} }'],
    ['<<', 'swap: &x {users: []}\n<<: *x'],
  ])('is refused for the key %s, which is named', (key, config) => {
    const problem = refusal(`#cloud-config\n${config}\n`);
    expect(problem.code).toBe('user_data_refused');
    expect(problem.options.extensions).toMatchObject({ forbidden_keys: [key] });
  });

  it.each([
    ['neither script nor cloud-config', 'packages: [tmux]'],
    ['a template', '## template: jinja\n#cloud-config\n{{ users }}'],
    ['another kind', '#include\nhttps://example.test/user-data'],
    ['a message of several parts', 'Content-Type: multipart/mixed'],
    ['a list', '#cloud-config\n- users'],
    ['a key twice', '#cloud-config\nruncmd: []\nruncmd: []'],
    ['two documents', '#cloud-config\nruncmd: []\n---\nusers: []'],
    ['a tag of a programming language', '#cloud-config\nruncmd: !!python/object/apply:os.system [id]'],
    ['an alias of nothing', '#cloud-config\nruncmd: *x'],
    ['aliases that grow', `#cloud-config\nswap: &a0 [x]\n${aliases()}`],
    ['more bytes than characters', `#!/bin/sh\n${'é'.repeat(8_200)}`],
    ['a null character', '#!/bin/sh\n\0'],
  ])('is refused: %s', (_, text) => {
    expect(refusal(text).code).toBe('user_data_refused');
  });

  it('is refused in words that repeat no value', () => {
    const problem = refusal('#cloud-config\nruncmd: [ "hunter2\nx: hunter2');
    expect(JSON.stringify(problem.toJson('c'))).not.toContain('hunter2');
    expect(refusal('#cloud-config\n"hunter2 hunter2": 1').message).not.toContain('hunter2');
  });

  it('is not for whole hosts', () => {
    expect(() => checkUserData('#!/bin/sh', 'baremetal')).toThrow(/whole host/);
  });
});

function aliases(): string {
  const of = (depth: number): string =>
    Array<string>(9)
      .fill(`*a${depth - 1}`)
      .join(', ');
  return [1, 2, 3, 4, 5].map((depth) => `k${depth}: &a${depth} [${of(depth)}]`).join('\n');
}
