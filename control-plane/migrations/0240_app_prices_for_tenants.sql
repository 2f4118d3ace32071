-- A tenant sees what requests to an app cost before it launches the app. Prices are the same for every tenant.
grant select on app_usage_prices to gpuaas_tenant;
