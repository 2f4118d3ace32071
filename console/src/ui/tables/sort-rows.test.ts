import { expect, test } from 'vitest';
import { formatSortOrder, parseSortOrder, sortRows } from './sort-rows.ts';

const columns = [
  { header: 'Size', cell: (row: number) => row, sort: (a: number, b: number) => a - b },
  { header: 'Note', cell: () => '' },
];

test('rows are sorted by a column that has an order, either way', () => {
  expect(sortRows([2, 1, 3], columns, { by: 'Size', down: false })).toEqual([1, 2, 3]);
  expect(sortRows([2, 1, 3], columns, { by: 'Size', down: true })).toEqual([3, 2, 1]);
});

test('rows keep their order without a sort order', () => {
  expect(sortRows([2, 1], columns, undefined)).toEqual([2, 1]);
  expect(sortRows([2, 1], columns, { by: 'Note', down: false })).toEqual([2, 1]);
  expect(sortRows([2, 1], columns, { by: 'Unknown', down: true })).toEqual([2, 1]);
});

test('a sort order survives the URL', () => {
  for (const order of [
    { by: 'Price / h', down: true },
    { by: 'Name', down: false },
  ])
    expect(parseSortOrder(formatSortOrder(order))).toEqual(order);
});
