import * as v from 'valibot'

export const DATABASE = 'app.db'
export const SECRETS = 'secrets.json'
export const MANIFEST = 'manifest.json'

/** What `format` says in every backup. */
export const FORMAT = 'meridian-backup-1'

const StoredFile = v.object({
  name: v.picklist([DATABASE, SECRETS]),
  bytes: v.number(),
  /** Lower-case hex. */
  sha256: v.string(),
})
export type StoredFile = v.InferOutput<typeof StoredFile>

const GeoVersion = v.object({
  name: v.string(),
  bytes: v.number(),
  /** RFC 3339. */
  builtAt: v.string(),
})
/** A database of places or networks that was served. The data itself is not in the backup. */
export type GeoVersion = v.InferOutput<typeof GeoVersion>

/** What a backup says of itself. */
export const Manifest = v.object({
  format: v.literal(FORMAT),
  /** Version of the release that made it. */
  version: v.string(),
  /** RFC 3339. */
  createdAt: v.string(),
  files: v.array(StoredFile),
  geo: v.array(GeoVersion),
})
export type Manifest = v.InferOutput<typeof Manifest>
