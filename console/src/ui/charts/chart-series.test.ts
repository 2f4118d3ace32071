import { expect, test } from 'vitest';
import { stackSeries, summarize, toCsv, type ChartData } from './chart-series.ts';

const data: ChartData = {
  times: [0, 86_400],
  series: [
    { name: 'a "b"', tone: 'info', values: [1, 2] },
    { name: 'c', tone: 'success', values: [null, 3] },
  ],
};

test('stacked series stand on one another, and a gap stays a gap', () => {
  expect(stackSeries(data.series).map(({ values }) => values)).toEqual([
    [1, 2],
    [null, 5],
  ]);
});

test('a chart can be read and downloaded', () => {
  expect(summarize(data, (value) => `${value}%`)).toBe(
    '2 points. a "b": lowest 1%, highest 2%, latest 2%. c: lowest 3%, highest 3%, latest 3%.',
  );
  expect(summarize({ times: [], series: [{ name: 'd', tone: 'info', values: [] }] }, String)).toBe(
    '0 points. d: no data.',
  );
  expect(toCsv(data)).toBe('time,"a ""b""","c"\n1970-01-01T00:00:00.000Z,1,\n1970-01-02T00:00:00.000Z,2,3\n');
});
