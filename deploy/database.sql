-- The PostgreSQL of compose.yaml runs this once, when it makes its volume, as its superuser in the database `plants`.
\getenv password POSTGRES_PASSWORD
-- The service needs no more than this: it owns the tables that it creates.
CREATE ROLE plants LOGIN PASSWORD :'password';
GRANT CREATE ON SCHEMA public TO plants;
-- From now on the superuser gets in through the socket in the container alone: docker compose exec database psql -U postgres plants
ALTER ROLE CURRENT_USER PASSWORD NULL;
