import type { Coordinates, Finding, Level, Named, NetworkOwner, Place } from './finding.ts'
import { quoted } from './json-text.ts'
import { Numbered } from './numbered.ts'

/** Room for all but a few of the longest records. Four cache lines of most processors. */
const CARD_BYTES = 256

/**
 * At which byte of a card what stands. The text is the JSON of the city and that of the network;
 * names are two bytes, start and length in the text.
 */
const OFFSET = 0
const COUNTRY = 4
const REGION = 6
const TIMEZONE = 8
const LEVEL = 10
const CITY_LENGTH = 11
const TEXT_LENGTH = 12
const DISTRICT = 14
const CITY = 16
const POSTAL_CODE = 18
const ASN = 20
const ORGANIZATION = 22
const DOMAIN = 24
const LATITUDE = 32
const LONGITUDE = 40
const RADIUS = 48
const TEXT = 56
const MOST_TEXT = CARD_BYTES - TEXT

/** What places of one country share, and places of one region. */
type CountryParts = Pick<Place, 'continent' | 'country'> & {
  readonly json: string
  readonly jsonWithEmblems: string
}
interface RegionParts {
  readonly region: Named | undefined
  readonly json: string
}

/**
 * Keeps findings by the offset of their record, each as a card of 256 bytes. A finding is a dozen
 * objects and texts that lie anywhere in memory; a card is read from neighbouring cache lines, and
 * is nothing to the garbage collector. Each offset has one slot, and the last one that came there
 * has it.
 */
export class CardCache {
  readonly #shift: number
  readonly #bytes: Buffer
  readonly #view: DataView
  readonly #countries = new Numbered<CountryParts>()
  readonly #regions = new Numbered<RegionParts>()
  readonly #timezones = new Numbered<string>()

  /** Has 2^bits slots, which take memory as they are used. */
  constructor(bits: number) {
    const memory = new ArrayBuffer(2 ** bits * CARD_BYTES)
    this.#shift = 32 - bits
    this.#bytes = Buffer.from(memory)
    this.#view = new DataView(memory)
  }

  get(offset: number): Finding | undefined {
    const at = this.#cardAt(offset)
    const view = this.#view
    if (view.getUint32(at + OFFSET) !== offset) return undefined
    const start = at + TEXT
    const text = this.#bytes.toString('latin1', start, start + view.getUint8(at + TEXT_LENGTH))
    return { place: this.#readPlace(at, text), network: this.#readNetwork(at, text) }
  }

  /** Keeps the finding, unless it is too long for a card or there are too many regions. */
  put(offset: number, { place, network }: Finding): void {
    const at = this.#cardAt(offset)
    const view = this.#view
    const cityJson = place === undefined ? '' : place.json.city
    const text = network === undefined ? cityJson : cityJson + network.json
    view.setUint32(at + OFFSET, 0)
    if (text.length > MOST_TEXT || !this.#writePlace(at, place, text)) return
    view.setUint8(at + CITY_LENGTH, cityJson.length)
    view.setUint8(at + TEXT_LENGTH, text.length)
    this.#bytes.write(text, at + TEXT, 'latin1')
    this.#writeName(at + ASN, network?.asn, text)
    this.#writeName(at + ORGANIZATION, network?.organization, text)
    this.#writeName(at + DOMAIN, network?.domain, text)
    view.setUint32(at + OFFSET, offset)
  }

  #readPlace(at: number, text: string): Place | undefined {
    const view = this.#view
    const country = this.#countries.get(view.getUint16(at + COUNTRY))
    if (country === undefined) return undefined
    const region = this.#regions.get(view.getUint16(at + REGION))
    return {
      continent: country.continent,
      country: country.country,
      region: region === undefined ? undefined : region.region,
      district: this.#readName(at + DISTRICT, text),
      city: this.#readName(at + CITY, text),
      postalCode: this.#readName(at + POSTAL_CODE, text),
      coordinates: this.#readCoordinates(at),
      timezone: this.#timezones.get(view.getUint16(at + TIMEZONE)),
      // safe: written by #writePlace
      level: view.getUint8(at + LEVEL) as Level,
      json: {
        country: country.json,
        countryWithEmblems: country.jsonWithEmblems,
        region: region === undefined ? '' : region.json,
        city: text.slice(0, view.getUint8(at + CITY_LENGTH)),
      },
    }
  }

  #readCoordinates(at: number): Coordinates | undefined {
    const view = this.#view
    const latitude = view.getFloat64(at + LATITUDE)
    if (Number.isNaN(latitude)) return undefined
    const longitude = view.getFloat64(at + LONGITUDE)
    const accuracyRadius = view.getFloat64(at + RADIUS)
    if (Number.isNaN(accuracyRadius)) return { latitude, longitude }
    return { latitude, longitude, accuracyRadius }
  }

  #readNetwork(at: number, text: string): NetworkOwner | undefined {
    const cityLength = this.#view.getUint8(at + CITY_LENGTH)
    if (cityLength === text.length) return undefined
    return {
      asn: this.#readName(at + ASN, text),
      organization: this.#readName(at + ORGANIZATION, text),
      domain: this.#readName(at + DOMAIN, text),
      json: text.slice(cityLength),
    }
  }

  /** Names are read out of the JSON. They stand behind a quotation mark, so never at its start. */
  #readName(at: number, text: string): string | undefined {
    const start = this.#view.getUint8(at)
    if (start === 0) return undefined
    const name = text.slice(start, start + this.#view.getUint8(at + 1))
    return name.includes('\\') ? String(JSON.parse(`"${name}"`)) : name
  }

  #writePlace(at: number, place: Place | undefined, text: string): boolean {
    const view = this.#view
    const country = place === undefined ? 0 : this.#addCountry(place)
    const region = place === undefined ? 0 : this.#addRegion(place)
    const timezone = this.#timezones.add(place?.timezone ?? '', place?.timezone)
    if (country < 0 || region < 0 || timezone < 0) return false
    view.setUint16(at + COUNTRY, country)
    view.setUint16(at + REGION, region)
    view.setUint16(at + TIMEZONE, timezone)
    view.setUint8(at + LEVEL, place?.level ?? 0)
    const coordinates = place?.coordinates
    view.setFloat64(at + LATITUDE, coordinates?.latitude ?? Number.NaN)
    view.setFloat64(at + LONGITUDE, coordinates?.longitude ?? Number.NaN)
    view.setFloat64(at + RADIUS, coordinates?.accuracyRadius ?? Number.NaN)
    this.#writeName(at + DISTRICT, place?.district, text)
    this.#writeName(at + CITY, place?.city, text)
    this.#writeName(at + POSTAL_CODE, place?.postalCode, text)
    return true
  }

  #addCountry({ continent, country, json }: Place): number {
    const jsonWithEmblems = json.countryWithEmblems
    const parts = { continent, country, json: json.country, jsonWithEmblems }
    return this.#countries.add(json.country, parts)
  }

  #addRegion({ region, json }: Place): number {
    return this.#regions.add(json.region, { region, json: json.region })
  }

  #writeName(at: number, name: string | undefined, text: string): void {
    if (name === undefined) {
      this.#view.setUint8(at, 0)
      return
    }
    const json = quoted(name)
    this.#view.setUint8(at, text.indexOf(json) + 1)
    this.#view.setUint8(at + 1, json.length - 2)
  }

  /** Fibonacci hashing: neighbouring offsets fall far apart. */
  #cardAt(offset: number): number {
    return (Math.imul(offset, 0x9e3779b1) >>> this.#shift) * CARD_BYTES
  }
}
