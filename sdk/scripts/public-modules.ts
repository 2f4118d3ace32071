/** Public modules, in the order in which users need them. All others are internal. */
export const publicModules = [
  'client',
  'problem',
  'paginate',
  'events',
  'access-token',
  'refresh-grant',
  'contract',
  'operations',
  'wipe-certificates',
] as const;
