/** The steps of the schema as they were released. This list only grows. */
export const RELEASED = [
  `CREATE TABLE IF NOT EXISTS plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag TEXT, words TSVECTOR NOT NULL)`,
  `CREATE INDEX IF NOT EXISTS plants_by_tag ON plants (left(md5(tag), 15), id) WHERE tag IS NOT NULL`,
  `CREATE INDEX IF NOT EXISTS plants_by_word ON plants USING GIN (words)`,
  `CREATE TABLE IF NOT EXISTS tokens (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, scopes TEXT NOT NULL, created BIGINT NOT NULL, expires BIGINT, revoked BIGINT
    )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS tokens_by_hash ON tokens (hash)`,
  `ALTER TABLE tokens ADD COLUMN IF NOT EXISTS parent TEXT`,
  `ALTER TABLE tokens ADD COLUMN IF NOT EXISTS used BIGINT`,
  `CREATE INDEX IF NOT EXISTS tokens_by_parent ON tokens (parent) WHERE parent IS NOT NULL`,
  `CREATE INDEX IF NOT EXISTS plants_without_tag ON plants (id) WHERE tag IS NULL`,
  `ALTER TABLE plants ADD COLUMN IF NOT EXISTS name_key BYTEA`,
  `ALTER TABLE plants ADD COLUMN IF NOT EXISTS added BIGINT DEFAULT (extract(epoch FROM now()) * 1000000)::bigint`,
  `CREATE INDEX IF NOT EXISTS plants_by_name ON plants (name_key, id)`,
  `CREATE INDEX IF NOT EXISTS plants_by_newest ON plants (added, id)`,
  `CREATE STATISTICS IF NOT EXISTS plants_of_tag ON (left(md5(tag), 15)) FROM plants`,
] as const;
