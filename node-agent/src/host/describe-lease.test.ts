import { expect, it } from 'vitest';
import { describeLease } from './describe-lease.ts';

it.each([
  ['10.0.0.10', 'bound'],
  ['10.0.0.11', 'mismatch'],
  [null, 'missing'],
])('a machine with %s is %s', (actual_ip, lease_state) => {
  expect(describeLease('52:54:00:00:00:01', '10.0.0.10', actual_ip)).toEqual({
    mac: '52:54:00:00:00:01',
    expected_ip: '10.0.0.10',
    actual_ip,
    lease_state,
  });
});
