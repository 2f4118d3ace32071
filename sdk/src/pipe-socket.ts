/** Bytes between a WebSocket of the platform and a stream, for programs that have only the SDK. */
export { pipeSocket, type ByteSocket } from '@gpuaas/contracts/pipe-socket';
