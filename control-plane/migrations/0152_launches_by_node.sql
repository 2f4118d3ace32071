-- A launch uses the money of a reservation on its nodes only: both functions now name the nodes.
drop function if exists kept_beside(uuid, text, timestamptz, json);
drop function if exists unused_reservations(uuid, timestamptz);
