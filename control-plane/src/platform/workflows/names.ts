/** Owner of the rows in the engine's tables. */
export const APPLICATION = 'gpuaas';
export const QUEUE = 'allocations';
/** Wakes the dispatchers. */
export const STARTS_CHANNEL = 'gpuaas_workflow_starts';
