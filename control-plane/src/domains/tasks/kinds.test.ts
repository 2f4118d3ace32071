import { taskKinds } from '@gpuaas/contracts/task-kinds';
import type { TaskKind, TaskOutput } from '@gpuaas/contracts/tasks';
import { describe, expect, it } from 'vitest';
import { rulesOf, subjectOf } from './kinds.ts';

const kinds = Object.keys(taskKinds) as TaskKind[];

describe('the kinds of tasks', () => {
  it.each(kinds)('%s: is issued only for a subject of its type', (kind) => {
    const host = { nodeId: 'host-1' };
    const allocation = { type: 'allocation', id: 'allocation-1' } as const;
    if (taskKinds[kind].subject === 'node') {
      expect(subjectOf(kind, host)).toEqual({ type: 'node', id: 'host-1' });
      expect(() => subjectOf(kind, { ...host, subject: allocation })).toThrow('subject of type node');
    } else {
      expect(subjectOf(kind, { ...host, subject: allocation })).toEqual(allocation);
      expect(() => subjectOf(kind, host)).toThrow('subject of type allocation');
    }
  });

  it.each(kinds)('%s: reports to a subject that is not its host, and to no other', (kind) => {
    const { progress, secrets } = rulesOf(kind);
    const ofHost = taskKinds[kind].subject === 'node';
    expect(progress === undefined).toBe(ofHost);
    if (ofHost) expect(secrets).toBeUndefined();
  });

  it('a user gets root exactly when root was asked for', () => {
    const refuse = (root: boolean | undefined, privileged: boolean) =>
      rulesOf('allocation.provision_user').refuseOutput?.(
        {
          allocation_id: 'a',
          hostname: 'h',
          username: 'u',
          ssh_authorized_keys: [],
          ...(root === undefined ? {} : { root }),
        },
        { privileged } as TaskOutput['allocation.provision_user'],
      );
    expect(refuse(undefined, false)).toBeNull();
    expect(refuse(true, true)).toBeNull();
    expect(refuse(undefined, true)).toBe('The user could become root.');
    expect(refuse(true, false)).toBe('The user did not get root.');
  });

  it('a kind that this release does not know has no rules', () => {
    expect(rulesOf('slice.from_the_future')).toEqual({});
  });
});
