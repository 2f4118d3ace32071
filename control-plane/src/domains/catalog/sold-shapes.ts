import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { Problem } from '../../platform/http/problem.ts';

type Schemas = components['schemas'];

/** Refuses shapes and sharing mechanisms that the contract names but nothing places, wipes or bills yet. */
export function requireSoldShape({
  capacity_shape: shape,
  sharing_mechanism: mechanism = 'exclusive_device',
}: Pick<Schemas['CreateSku'], 'capacity_shape' | 'sharing_mechanism'>): Schemas['CapacityShape'] {
  if (shape === 'gpu_partition' || shape === 'gpu_shared') throw reserved('/capacity_shape', shape);
  if (mechanism !== 'exclusive_device') throw reserved('/sharing_mechanism', mechanism);
  return shape;
}

function reserved(pointer: string, word: string): Problem {
  const detail = `${word} is reserved for products that share a GPU; whole GPUs are sold as gpu_slice or baremetal`;
  return new Problem('shape_reserved', `The product cannot be created: ${detail}.`, {
    errors: [{ pointer, code: 'shape_reserved', detail }],
  });
}
