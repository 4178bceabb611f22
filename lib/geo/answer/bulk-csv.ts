import { csvFormatRow } from 'd3-dsv'
import { csvCell } from '../../contract/geo/csv-cell.ts'
import type { Precision } from '../../contract/geo/geolocation.ts'
import { type Address, parseAddress } from '../../net/address.ts'
import { LEVEL, type Place } from '../place/finding.ts'
import { type AnswerLine, NOT_AN_ADDRESS, shownText } from './bulk.ts'
import { precisionOf } from './describe.ts'
import type { Located } from './locate.ts'
import { utcOffset } from './timezones.ts'

/** The parts of an answer that its precision allows (`GeolocationResult`), or an error. */
interface Answer extends Partial<Pick<Located, 'place' | 'timezone' | 'confidence' | 'network'>> {
  readonly ip: string
  readonly version?: 4 | 6
  readonly precision?: Precision
  /** The place, if its city is known. */
  readonly city?: Place
  readonly utcOffset?: string | undefined
  readonly error?: string
}

/** Each column, in order, with its cell; undefined: empty. */
const COLUMNS: Readonly<Record<string, (answer: Answer) => string | number | undefined>> = {
  ip: ({ ip }) => ip,
  version: ({ version }) => version,
  precision: ({ precision }) => precision,
  continent: ({ place }) => place?.continent.code,
  country: ({ place }) => place?.country?.code,
  country_name: ({ place }) => place?.country?.name,
  region: ({ place }) => place?.region?.code,
  region_name: ({ place }) => place?.region?.name,
  district: ({ city }) => city?.district,
  city: ({ city }) => city?.city,
  postal_code: ({ city }) => city?.postalCode,
  latitude: ({ city }) => city?.coordinates?.latitude,
  longitude: ({ city }) => city?.coordinates?.longitude,
  accuracy_radius: ({ city }) => city?.coordinates?.accuracyRadius,
  timezone: ({ timezone }) => timezone?.name,
  utc_offset: ({ utcOffset }) => utcOffset,
  geo_confidence: ({ confidence }) => confidence,
  asn: ({ network }) => network?.asn,
  organization: ({ network }) => network?.organization,
  domain: ({ network }) => network?.domain,
  error: ({ error }) => error,
}

export const CSV_COLUMNS: readonly string[] = Object.keys(COLUMNS)

/** The first row: the names of the columns. */
export const CSV_HEADER = `${csvFormatRow([...CSV_COLUMNS])}\n`

type Cells = readonly (string | number | undefined)[]

/** Each answer is a row of CSV (RFC 4180). Cells of unknown values are empty. */
export function createCsvLines(locate: (address: Address) => Located): AnswerLine {
  const toCells = createCells(locate)
  return (line, now) => `${csvFormatRow(toCells(line, now).map(csvCell))}\n`
}

/** The cells of the answer to a text, in the order of `CSV_COLUMNS`. */
export function createCells(
  locate: (address: Address) => Located,
): (line: string, now: number) => Cells {
  return (line, now) => {
    const text = line.trim()
    const address = parseAddress(text)
    if (address === null) return cellsOf({ ip: shownText(text), error: NOT_AN_ADDRESS })
    const { place, timezone, confidence, network } = locate(address)
    const level = place?.level ?? 0
    const offset = timezone && utcOffset(timezone.name, now)
    return cellsOf({
      ip: address.text,
      version: address.version,
      precision: precisionOf(place?.level),
      place,
      network,
      ...(level >= LEVEL.region && { timezone, utcOffset: offset, confidence }),
      ...(place?.level === LEVEL.city && { city: place }),
    })
  }
}

const CELLS = Object.values(COLUMNS)

function cellsOf(answer: Answer): Cells {
  return CELLS.map((cell) => cell(answer))
}
