-- `sell` takes one JSON object now (functions/sell.sql). A process of the previous release that still calls the old one is
-- refused and decides its launches on the slow path.
drop function sell(json, json, json, uuid[], text[], integer, json, timestamptz, uuid[], uuid[], uuid[], json, text, json,
  json, json);
