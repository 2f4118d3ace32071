/** Every operation of the contract as data, for programs that offer them all. */
export type { Operation, OperationField } from '@gpuaas/contracts/operations';
export { contractVersion, operations } from '@gpuaas/contracts/generated/operations.ts';
