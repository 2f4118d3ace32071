/** Owner of the rows in the engine's tables. */
export const APPLICATION = 'gpuaas';
/** The queue of every workflow that names no other. */
export const DEFAULT_QUEUE = 'platform';
/** Where releases before there were several queues put every workflow; those still under way are taken from there. */
export const FORMER_QUEUE = 'allocations';
/** Wakes the dispatchers. */
export const STARTS_CHANNEL = 'gpuaas_workflow_starts';
