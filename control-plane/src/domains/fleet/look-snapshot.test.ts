import { expect, it } from 'vitest';
import { lookSnapshot } from './look-snapshot.ts';

it.each([
  ['a look without a transaction id of its own', '10:20:10,12', null, '10:20:10,12'],
  ['one whose id is newer than everything seen', '10:20:10,12', '20', '10:20:10,12'],
  ['one whose id is between those under way', '10:20:10,12', '11', '10:20:10,11,12'],
  ['one that is older than all of them', '10:20:10,12', '9', '9:20:9,10,12'],
  ['one while nothing else is under way', '20:20:', '7', '7:20:7'],
  ['one that is listed already', '10:20:10,12', '12', '10:20:10,12'],
])('%s', (_what, snapshot, own, seen) => {
  expect(lookSnapshot({ snapshot, ownXid: own })).toBe(seen);
});
