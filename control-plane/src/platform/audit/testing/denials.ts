import type { Db } from '../../db/database.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { Denials } from '../denials.ts';

/** Every refused attempt gets its row. */
export function unlimitedDenials({ db, log }: { db: Db; log: Logger }): Denials {
  return new Denials({ db, log, limits: () => ({ perMinute: 1e9, inTotalPerMinute: 1e9 }) });
}
