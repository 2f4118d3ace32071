import { expect, it } from 'vitest';
import { snapshotIncludes, excludeOwnTransaction } from './snapshot.ts';

it.each([
  ['a snapshot without its own transaction id', '10:20:10,12', null, '10:20:10,12'],
  ['one whose id is newer than everything seen', '10:20:10,12', '20', '10:20:10,12'],
  ['one whose id is between those under way', '10:20:10,12', '11', '10:20:10,11,12'],
  ['one that is older than all of them', '10:20:10,12', '9', '9:20:9,10,12'],
  ['one while nothing else is under way', '20:20:', '7', '7:20:7'],
  ['one that is listed already', '10:20:10,12', '12', '10:20:10,12'],
])('%s', (_what, snapshot, own, seen) => {
  expect(excludeOwnTransaction({ snapshot, ownXid: own })).toBe(seen);
});

it.each([
  ['older than all that were under way', '9', true],
  ['under way', '12', false],
  ['between those under way', '11', true],
  ['newer than everything', '20', false],
  ['newer by a digit', '100', false],
])('has seen a transaction, or not, that is %s', (_what, xid, seen) => {
  expect(snapshotIncludes('10:20:10,12', xid)).toBe(seen);
  expect(snapshotIncludes('20:20:', '7')).toBe(true);
});
