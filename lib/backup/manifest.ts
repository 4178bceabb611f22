import * as v from 'valibot'

export const DATABASE = 'app.db'
export const SECRETS = 'secrets.json'
export const MANIFEST = 'manifest.json'

/** The value of `format` in every backup. */
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
/** A geolocation database that the server used. The backup does not contain the data itself. */
export type GeoVersion = v.InferOutput<typeof GeoVersion>

/** The description of a backup, inside its archive. */
export const Manifest = v.object({
  format: v.literal(FORMAT),
  /** The release that made the backup. */
  version: v.string(),
  /** RFC 3339. */
  createdAt: v.string(),
  files: v.array(StoredFile),
  geo: v.array(GeoVersion),
})
export type Manifest = v.InferOutput<typeof Manifest>
