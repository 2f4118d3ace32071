-- The starting catalog named digests that nobody built. An image is for sale once an operator approves a digest of it.
update images i set digest = null
where digest in ('sha256:6f0d3f0f5e0e4a1d9b7c2a8e4d5f60718293a4b5c6d7e8f90123456789abcdef',
    'sha256:a1b2c3d4e5f60718293a4b5c6d7e8f900123456789abcdef6f0d3f0f5e0e4a1d')
  and not exists (select from image_blessings b where b.image = i.image and b.digest = i.digest);
