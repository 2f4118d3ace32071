import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Counter, type Registry } from 'prom-client';
import { BLOBS_CHANNEL, type BlobOperation } from '../blobs/blobs.ts';

/** Operations of this process on stored content, by outcome, and the bytes of those that succeeded. */
export function measureBlobs(registry: Registry): () => void {
  const operations = new Counter({
    name: 'gpuaas_blob_operations_total',
    help: 'Operations on stored content, by operation and outcome.',
    labelNames: ['operation', 'outcome'],
    registers: [registry],
  });
  const bytes = new Counter({
    name: 'gpuaas_blob_bytes_total',
    help: 'Bytes stored and read, by operation.',
    labelNames: ['operation'],
    registers: [registry],
  });
  const observe = (message: unknown): void => {
    if (!isBlobOperation(message)) return;
    const { operation, outcome, bytes: moved } = message;
    operations.inc({ operation, outcome });
    if (moved > 0) bytes.inc({ operation }, moved);
  };
  subscribe(BLOBS_CHANNEL, observe);
  return () => void unsubscribe(BLOBS_CHANNEL, observe);
}

function isBlobOperation(message: unknown): message is BlobOperation {
  return typeof message === 'object' && message !== null && 'operation' in message && 'bytes' in message;
}
