import type { Db } from '../../../platform/db/database.ts';
import type { App } from './app.ts';

/** Finds apps as they are now. */
export interface AppDirectory {
  byLabel(db: Db, label: string): Promise<App | null>;
  /** By instance. One that does not exist is missing. */
  byId(db: Db, instanceIds: readonly string[]): Promise<Map<string, App>>;
  /** The share link with this secret, if it leads to the app and has not expired. */
  findShareLink(db: Db, app: App, secret: string): Promise<{ id: string; expiresAt: Date } | null>;
}
