-- Which key vouched for a blessed digest, with the statement it signed; null where the permission alone was enough.
alter table image_blessings add signed_by text check (signed_by ~ '^[0-9a-f]{64}$');
alter table image_blessings add statement jsonb;
alter table image_blessings add check ((signed_by is null) = (statement is null));
