/** Why an app instance waits or ended: title, help text, fault and what a retry is worth, as the contract has them. */
export { appReasons, type AppReason } from '@gpuaas/contracts/generated/reasons.ts';
