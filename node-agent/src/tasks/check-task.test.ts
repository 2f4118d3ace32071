import { createHmac, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { signCanonical } from '@gpuaas/contracts/signing';
import { describe, expect, it } from 'vitest';
import type { SignedTask } from '../control-plane.ts';
import { validateContent, verifyOrigin } from './check-task.ts';

const pinned = generateKeyPairSync('ed25519');
const pinnedPem = pinned.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const nodeId = randomUUID();
const NOW = new Date('2026-01-01T00:00:00Z');

const task: SignedTask['task'] = {
  task_id: randomUUID(),
  kind: 'slice.topology_discover',
  node_id: nodeId,
  params: {},
  nonce: 'n',
  epoch: 3,
  issued_at: NOW.toISOString(),
  expires_at: new Date(NOW.getTime() + 60_000).toISOString(),
  correlation_id: randomUUID(),
};
const signature = signCanonical(task, pinned.privateKey);
const codeOf = (signed: SignedTask): string => {
  const verdict = verifyOrigin(signed, nodeId, pinnedPem);
  return verdict.ok ? 'taken' : verdict.code;
};

describe('the origin of a task', () => {
  it('is accepted for the task as signed', () => {
    expect(codeOf({ task, signature })).toBe('taken');
  });

  it.each(
    Object.entries({
      task_id: randomUUID(),
      kind: 'slice.vm_release',
      node_id: randomUUID(),
      params: { force: true },
      nonce: 'another',
      epoch: 4,
      issued_at: new Date(0).toISOString(),
      expires_at: new Date(NOW.getTime() + 86_400_000).toISOString(),
      correlation_id: randomUUID(),
    }),
  )('refused with another %s', (field, value) => {
    expect(codeOf({ task: { ...task, [field]: value }, signature })).toBe('signature_invalid');
  });

  it('is refused with an added or a missing field', () => {
    const { correlation_id: _, ...less } = task;
    expect(codeOf({ task: less as typeof task, signature })).toBe('signature_invalid');
    expect(codeOf({ task: { ...task, root: true } as typeof task, signature })).toBe('signature_invalid');
  });

  it.each<[string, string]>([
    ['none', ''],
    ['a foreign key’s', signCanonical(task, generateKeyPairSync('ed25519').privateKey)],
    [
      'one that anybody can make with the public key',
      createHmac('sha256', pinnedPem).update('x').digest('base64'),
    ],
    [
      'one of a weaker kind',
      sign(
        'sha256',
        Buffer.from(JSON.stringify(task)),
        generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
      ).toString('base64'),
    ],
    ['a cut one', signature.slice(0, 40)],
  ])('refused with a signature that is %s', (_, forged) => {
    expect(codeOf({ task, signature: forged })).toBe('signature_invalid');
  });

  it('is refused when signed for another host', () => {
    const alien = { ...task, node_id: randomUUID() };
    expect(codeOf({ task: alien, signature: signCanonical(alien, pinned.privateKey) })).toBe('wrong_node');
  });
});

describe('a task of proven origin is run only', () => {
  const refusal = (change: Partial<typeof task>, now = NOW) => {
    const verdict = validateContent({ ...task, ...change }, now);
    return verdict.ok ? 'taken' : verdict.code;
  };

  it.each([
    ['in time', {}, NOW, 'taken'],
    ['before it expires', {}, new Date(NOW.getTime() + 60_000), 'task_expired'],
    ['with a date that is one', { expires_at: 'soon' }, NOW, 'task_expired'],
    ['of a known kind', { kind: 'shell.run' }, NOW, 'kind_unknown'],
    ['of a kind that is no accident of the language', { kind: 'constructor' }, NOW, 'kind_unknown'],
    ['with params of its schema', { params: { command: 'id' } }, NOW, 'params_invalid'],
    ['with new params that may be left out', { params: { depth: 2 }, ignorable: ['depth'] }, NOW, 'taken'],
    ['with no other new params', { params: { depth: 2 }, ignorable: ['width'] }, NOW, 'params_invalid'],
  ])('%s', (_, change, now, code) => {
    expect(refusal(change, now)).toBe(code);
  });

  it('sees no parameter of a later release', () => {
    const verdict = validateContent({ ...task, params: { depth: 2 }, ignorable: ['depth'] }, NOW);
    expect(verdict).toMatchObject({ ok: true, value: { params: {} } });
    expect(verdict.ok && Object.keys(verdict.value.params)).toEqual([]);
  });
});
