/** The contract's types, so that nobody needs the contract package beside the SDK. */
export type { EventPayloads, EventType } from '@gpuaas/contracts/generated/events.ts';
export type { components, operations, paths } from '@gpuaas/contracts/generated/openapi.ts';
export type { Permission, PermissionGroup } from '@gpuaas/contracts/generated/permissions.ts';
export type { ProblemCode } from '@gpuaas/contracts/generated/problems.ts';
