/** MAAS's own numbers and names, taken from its documentation and not from our client. */
export const STATUS = {
  NEW: 0,
  COMMISSIONING: 1,
  FAILED_COMMISSIONING: 2,
  READY: 4,
  DEPLOYED: 6,
  BROKEN: 8,
  DEPLOYING: 9,
  ALLOCATED: 10,
  FAILED_DEPLOYMENT: 11,
  RELEASING: 12,
  FAILED_RELEASING: 13,
  DISK_ERASING: 14,
  FAILED_DISK_ERASING: 15,
  TESTING: 21,
  FAILED_TESTING: 22,
} as const;

export type Status = (typeof STATUS)[keyof typeof STATUS];

export const STATUS_NAMES: Record<Status, string> = {
  0: 'New',
  1: 'Commissioning',
  2: 'Failed commissioning',
  4: 'Ready',
  6: 'Deployed',
  8: 'Broken',
  9: 'Deploying',
  10: 'Allocated',
  11: 'Failed deployment',
  12: 'Releasing',
  13: 'Releasing failed',
  14: 'Disk erasing',
  15: 'Failed disk erasing',
  21: 'Testing',
  22: 'Failed testing',
};

const { NEW, COMMISSIONING, FAILED_COMMISSIONING, READY, DEPLOYED, BROKEN, DEPLOYING, ALLOCATED } = STATUS;
const { FAILED_DEPLOYMENT, RELEASING, FAILED_RELEASING, DISK_ERASING, FAILED_DISK_ERASING } = STATUS;
const { TESTING, FAILED_TESTING } = STATUS;

/** States in which an operation may start. */
export const ALLOWED_FROM: Record<'commission' | 'test' | 'deploy' | 'release' | 'abort', readonly Status[]> =
  {
    commission: [NEW, FAILED_COMMISSIONING, READY, BROKEN, FAILED_TESTING],
    test: [
      FAILED_COMMISSIONING,
      READY,
      ALLOCATED,
      DEPLOYED,
      FAILED_DEPLOYMENT,
      BROKEN,
      FAILED_RELEASING,
      FAILED_DISK_ERASING,
      FAILED_TESTING,
    ],
    deploy: [ALLOCATED],
    release: [
      ALLOCATED,
      DEPLOYED,
      DEPLOYING,
      FAILED_DEPLOYMENT,
      BROKEN,
      FAILED_RELEASING,
      FAILED_DISK_ERASING,
    ],
    abort: [COMMISSIONING, TESTING, DEPLOYING, DISK_ERASING],
  };

/** State after a transition fails. */
export const FAILED: Partial<Record<Status, Status>> = {
  [COMMISSIONING]: FAILED_COMMISSIONING,
  [TESTING]: FAILED_TESTING,
  [DEPLOYING]: FAILED_DEPLOYMENT,
  [RELEASING]: FAILED_RELEASING,
  [DISK_ERASING]: FAILED_DISK_ERASING,
};
