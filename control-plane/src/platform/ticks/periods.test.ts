import { describe, expect, it } from 'vitest';
import { duePeriods, lastPassedPeriod } from './periods.ts';

const at = (time: string): Date => new Date(`2026-11-15T${time}Z`);
const minutely = { everySeconds: 60 };

describe('periods', () => {
  it('are over before they are due', () => {
    expect(lastPassedPeriod(60, at('10:00:59'))).toEqual({ from: at('09:59:00'), to: at('10:00:00') });
    expect(lastPassedPeriod(60, at('10:01:00'))).toEqual({ from: at('10:00:00'), to: at('10:01:00') });
  });

  it('start with the last one when there is no history', () => {
    const due = duePeriods({ ...minutely, catchUp: 'each' }, null, at('10:00:30'));
    expect(due.periods).toEqual([{ from: at('09:59:00'), to: at('10:00:00') }]);
  });

  it('are each caught up, oldest first', () => {
    const due = duePeriods({ ...minutely, catchUp: 'each' }, at('09:55:00'), at('10:00:30'));
    expect(due.periods.map((period) => period.from)).toEqual(
      ['09:56:00', '09:57:00', '09:58:00', '09:59:00'].map(at),
    );
    expect(due.skipped).toBe(0);
  });

  it('are skipped but for the last', () => {
    const due = duePeriods({ ...minutely, catchUp: 'skip' }, at('09:55:00'), at('10:00:30'));
    expect(due).toEqual({ periods: [{ from: at('09:59:00'), to: at('10:00:00') }], skipped: 3 });
  });

  it('are not due twice', () => {
    for (const catchUp of ['skip', 'each'] as const) {
      expect(duePeriods({ ...minutely, catchUp }, at('09:59:00'), at('10:00:59')).periods).toEqual([]);
    }
  });
});
