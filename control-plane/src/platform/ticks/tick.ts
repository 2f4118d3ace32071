import type { CatchUp, Period } from './periods.ts';

/** Work that runs once per period, in any one process. */
export interface Tick<Services> {
  name: string;
  everySeconds: number;
  catchUp: CatchUp;
  /** May run again for a period whose runner died before it recorded the end, so it must be idempotent. */
  run(services: Services, period: Period): Promise<void>;
}
