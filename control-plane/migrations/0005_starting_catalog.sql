-- The catalog a new platform starts with. Products are closed until an operator opens them.

insert into regions (region, display_name, status) values
  ('uae-north-1', 'UAE North', 'enabled'),
  ('eu-central-1', 'EU Central', 'coming'),
  ('us-east-1', 'US East', 'coming');

insert into images (image, display_name, kind, digest) values
  ('H200-ubuntu-24.04-gpuaas-slice', 'Ubuntu 24.04', 'base',
   'sha256:6f0d3f0f5e0e4a1d9b7c2a8e4d5f60718293a4b5c6d7e8f90123456789abcdef'),
  ('H200-ubuntu-24.04-cuda-13-gpuaas-slice', 'Ubuntu 24.04 with CUDA 13', 'cuda-dev',
   'sha256:a1b2c3d4e5f60718293a4b5c6d7e8f900123456789abcdef6f0d3f0f5e0e4a1d');

insert into sku_catalog (sku, display_name, capacity_shape, gpu_model, gpus_total, allowed_gpu_counts,
  vcpu_per_gpu, memory_gib_per_gpu) values
  ('h200-sxm-slice', 'H200 SXM slice', 'gpu_slice', 'H200-SXM-141GB', 8, '{1,2,3,4,5,6,7,8}', 24, 64);

insert into sku_prices (id, sku, region, currency, per_gpu_hour_micros, effective_from) values
  ('019a8000-0000-7000-8000-000000000001', 'h200-sxm-slice', 'uae-north-1', 'USD', 2990000, '2026-01-01T00:00:00Z');
