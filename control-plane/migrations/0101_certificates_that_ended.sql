-- Certificates that ended long ago are of no use to anybody; the worker takes them away.
grant delete on node_certificates to gpuaas_worker;
