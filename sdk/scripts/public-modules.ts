/** What others may import, in the order in which they need it. The rest is how these work. */
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
