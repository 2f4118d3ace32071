import type { CatchUp, Period } from './periods.ts';

/** Work that is done once for each period, by whichever process gets to it. */
export interface Tick<Services> {
  name: string;
  everySeconds: number;
  catchUp: CatchUp;
  /** May run again for a period whose runner died before it could note the end, so it must be idempotent. */
  run(services: Services, period: Period): Promise<void>;
}
