import { writeFileSync } from 'node:fs'
import { Double, type MmdbValue, Uint16 } from '../../lib/geo/mmdb/value.ts'
import { createMmdbWriter } from '../../lib/geo/mmdb/writer.ts'
import { ipv4FromBits } from '../../lib/parts/net/address.ts'
import { createRandom, pick, type Random } from '../../scripts/parts/random.ts'

const NETWORKS_PER_PLACE = 32
/** Networks start at multiples of this many addresses. */
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
 * Writes a City file that divides IPv4 into `networks` networks of random length, 32 per place. The
 * file is the same in every run. A network takes about 60 bytes in a small file, 40 in a large one.
 */
export function writeDataSet(path: string, networks: number): void {
  const random = createRandom(4)
  const places = Array.from({ length: Math.ceil(networks / NETWORKS_PER_PLACE) }, (_, n) =>
    makePlace(n, random),
  )
  const writer = createMmdbWriter({
    databaseType: 'GeoLite2-City',
    description: 'Generated for a benchmark',
    builtAt: Date.UTC(2026, 0, 1),
    ipVersion: 6,
  })
  let first = 0
  for (const end of networkEnds(networks, random)) {
    writer.insertRange(ipv4FromBits(first), ipv4FromBits(end - 1), pick(random, places))
    first = end
  }
  writeFileSync(path, writer.toBytes())
}

/** The ends of the networks in order. The last one is the end of IPv4. */
function networkEnds(count: number, random: Random): Float64Array {
  const ends = Float64Array.from({ length: count }, () => Math.ceil(random() * GRAINS) * GRAIN)
  ends[0] = 2 ** 32
  return new Float64Array(new Set(ends.sort()))
}

function makePlace(n: number, random: Random): MmdbValue {
  const [code, name, continent, continentName, timezone] = pick(random, COUNTRIES)
  const coordinate = (most: number) => new Double(Math.round((random() * 2 - 1) * most * 1e4) / 1e4)
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
