import { writeFileSync } from 'node:fs'
import { ipv4FromBits } from '../../lib/address.ts'
import { Double, type MmdbValue, Uint16 } from '../../lib/geo/mmdb-value.ts'
import { createMmdbWriter } from '../../lib/geo/mmdb-writer.ts'
import { createRandom } from '../random.ts'

const NETWORKS_PER_PLACE = 32
/** Networks begin at multiples of so many addresses. */
const GRAIN = 16
const GRAINS = 2 ** 32 / GRAIN

const COUNTRIES = [
  ['BR', 'Brazil', 'SA', 'South America', 'America/Sao_Paulo'],
  ['DE', 'Germany', 'EU', 'Europe', 'Europe/Berlin'],
  ['IN', 'India', 'AS', 'Asia', 'Asia/Kolkata'],
  ['US', 'United States', 'NA', 'North America', 'America/New_York'],
  ['ZA', 'South Africa', 'AF', 'Africa', 'Africa/Johannesburg'],
] as const

/**
 * Writes a City file with so many networks of random length for all of IPv4, 32 to a place. The same
 * file in every run; about 60 bytes a network where they are few, and 40 where they are many.
 */
export function writeDataSet(path: string, networks: number): void {
  const random = createRandom(4)
  const places = Array.from({ length: Math.ceil(networks / NETWORKS_PER_PLACE) }, (_, n) =>
    makePlace(n, random),
  )
  const writer = createMmdbWriter({
    databaseType: 'GeoLite2-City',
    description: 'Made for a benchmark',
    builtAt: Date.UTC(2026, 0, 1),
    ipVersion: 6,
  })
  let first = 0
  for (const end of borders(networks, random)) {
    const place = places[Math.floor(random() * places.length)] ?? ''
    writer.insertRange(ipv4FromBits(first), ipv4FromBits(end - 1), place)
    first = end
  }
  writeFileSync(path, writer.toBytes())
}

/** Where networks end, in order; the last one where IPv4 ends. */
function borders(count: number, random: () => number): Float64Array {
  const ends = Float64Array.from({ length: count }, () => Math.ceil(random() * GRAINS) * GRAIN)
  ends[0] = 2 ** 32
  return new Float64Array(new Set(ends.sort()))
}

function makePlace(n: number, random: () => number): MmdbValue {
  const [code, name, continent, continentName, timezone] =
    COUNTRIES[n % COUNTRIES.length] ?? COUNTRIES[0]
  const coordinate = (limit: number) =>
    new Double(Math.round((random() * 2 - 1) * limit * 1e4) / 1e4)
  return {
    city: { names: { en: `City ${n}` } },
    continent: { code: continent, names: { en: continentName } },
    country: { iso_code: code, names: { en: name } },
    location: {
      accuracy_radius: new Uint16(20),
      latitude: coordinate(90),
      longitude: coordinate(180),
      time_zone: timezone,
    },
    postal: { code: String(10_000 + (n % 90_000)) },
    subdivisions: [{ iso_code: `R${n % 50}`, names: { en: `Region ${n % 50}` } }],
  }
}
