import { describe, expect, it } from 'vitest';
import { completeOrder } from './complete-order.ts';
import type { Offer } from './offer.ts';

const price = { currency: 'USD', micros: 2_990_000 };
const place = (region: string, largest: number) => ({
  region,
  gpus_available: largest,
  largest_slice: largest,
  by_gpu_count: [],
  price_per_gpu_hour: price,
});
const sku = (name: string, shape: 'gpu_slice' | 'baremetal', sizes: number[]): Offer['skus'][number] => ({
  sku: name,
  display_name: name,
  capacity_shape: shape,
  gpu_model: 'H200',
  gpus_total: 8,
  allowed_gpu_counts: sizes,
  resource_profile: { vcpus_per_gpu: 1, memory_gib_per_gpu: 1, local_nvme: '' } as never,
  price_per_gpu_hour: price,
  entitled: true,
  availability: [place('full', 1), place('roomy', 8)],
});
const image = (name: string, kind: 'base' | 'cuda-dev') => ({ image: name, kind }) as Offer['images'][number];
const key = (id: string, name: string) => ({ id, name }) as Offer['sshKeys'][number];
const offer: Offer = {
  skus: [sku('whole', 'baremetal', [8]), sku('slice', 'gpu_slice', [1, 2, 8])],
  images: [image('dev', 'cuda-dev'), image('plain', 'base')],
  sshKeys: [key('1', 'laptop'), key('2', 'desk')],
};

describe('completeOrder', () => {
  it('needs no more than a number of GPUs', () => {
    expect(completeOrder(offer, { gpus: 2 })).toEqual({
      sku: 'slice',
      gpu_count: 2,
      region: 'roomy',
      image: 'plain',
      ssh_key_ids: ['1', '2'],
    });
    expect(completeOrder(offer, { gpus: 1 }).region).toBe('full');
    expect(completeOrder(offer, { gpus: 8 }).sku).toBe('slice');
  });

  it('passes given values on unchanged; the server validates them', () => {
    expect(
      completeOrder(offer, {
        gpus: 8,
        sku: 'whole',
        region: 'other',
        image: 'mine',
        sshKey: ['desk', 'some-id'],
        name: 'a',
        queue: true,
        maxDuration: 60,
      }),
    ).toEqual({
      sku: 'whole',
      gpu_count: 8,
      region: 'other',
      image: 'mine',
      ssh_key_ids: ['2', 'some-id'],
      name: 'a',
      when_unavailable: 'queue',
      max_duration_seconds: 60,
    });
  });

  it('says what is sold instead', () => {
    expect(() => completeOrder(offer, { gpus: 3 })).toThrow('available sizes: 1, 2, 8');
    expect(() => completeOrder({ ...offer, skus: [] }, { gpus: 1 })).toThrow('No products available yet');
    expect(() => completeOrder({ ...offer, images: [] }, { gpus: 1 })).toThrow('--image');
    expect(() => completeOrder(offer, { gpus: 1, sku: 'unknown' })).toThrow('--region');
  });
});
