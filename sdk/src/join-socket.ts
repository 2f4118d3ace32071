/** Bytes between a WebSocket of the platform and a stream, for programs that have only the SDK. */
export { joinSocket, type ByteSocket } from '@gpuaas/contracts/join-socket';
