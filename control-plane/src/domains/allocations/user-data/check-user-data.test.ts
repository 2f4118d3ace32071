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
    ['a key twice further down', '#cloud-config\nruncmd:\n  - { a: 1, b: 2, a: 3 }'],
    ['a key that is a list', '#cloud-config\n? [runcmd]\n: []'],
    ['two documents', '#cloud-config\nruncmd: []\n---\nusers: []'],
    ['a tag of a programming language', '#cloud-config\nruncmd: !!python/object/apply:os.system [id]'],
    ['an alias of nothing', '#cloud-config\nruncmd: *x'],
    ['aliases that grow', `#cloud-config\nswap: &a0 [x]\n${aliases()}`],
    ['more bytes than characters', `#!/bin/sh\n${'é'.repeat(8_200)}`],
    ['a null character', '#!/bin/sh\n\0'],
  ])('is refused: %s', (_, text) => {
    expect(refusal(text).code).toBe('user_data_refused');
  });

  // Each fills what a text may have of bytes.
  it.each([
    ['aliases', filled((count) => `x${count + 1}: &a${count + 1} [*a${count}]\n`, 'x0: &a0 [x]\n')],
    ['aliases', filled(() => '*a,', 'runcmd: &a [')],
    ['tokens', filled((count) => `${count.toString(36)},`, 'swap: {')],
    ['tokens', filled((count) => `${count.toString(36)}:\n`)],
    ['tokens', filled(() => ',', 'runcmd: [')],
    ['tokens', filled(() => '\n')],
    ['levels', filled(() => '[')],
    ['levels', filled(() => '{a: ')],
    ['levels', filled(() => '- ')],
    ['levels', filled(() => '? ')],
  ])('is refused for its many %s before more of them are read', (many, text) => {
    expect(refusal(text).message).toMatch(new RegExp(`more than \\d+ ${many}`));
  });

  it('is taken with many lines, and with a few aliases', () => {
    const lines = filled((count) => `  - echo line ${count} of a long list\n`, 'runcmd:\n');
    expect(() => checkUserData(lines, 'gpu_slice')).not.toThrow();
    expect(() => checkUserData('#cloud-config\nruncmd: &a [x]\nbootcmd: *a\n', 'gpu_slice')).not.toThrow();
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

/** As much text as may be sent. */
function filled(part: (count: number) => string, start = ''): string {
  let text = `#cloud-config\n${start}`;
  for (let count = 0; text.length + part(count).length <= 16_384; count += 1) text += part(count);
  return text;
}
