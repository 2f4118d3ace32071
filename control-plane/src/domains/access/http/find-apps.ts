import type { AppDirectory } from './app-directory.ts';

export const appDirectory: AppDirectory = {
  byLabel: () => Promise.resolve(null),
  byId: () => Promise.resolve(new Map()),
};
