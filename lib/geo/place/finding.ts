/** The content of one record of one database. Findings share parts, so never change one. */
export interface LocationFinding {
  readonly place: Place | undefined
  readonly network: NetworkOwner | undefined
}

/** Every field is present, even if undefined: objects of one shape are fast to make and read. */
export interface Place {
  readonly continent: Named
  /** undefined if the record knows only the continent. */
  readonly country: Named | undefined
  readonly region: Named | undefined
  readonly district: string | undefined
  readonly city: string | undefined
  readonly postalCode: string | undefined
  readonly coordinates: Coordinates | undefined
  readonly timezone: string | undefined
  /** The finest level at which the record locates the address. */
  readonly level: Level
  /** Whether the record says no more than where the network is registered, which need not be where it is. */
  readonly isOnlyRegistered: boolean
  readonly json: PlaceJson
}

/** The fields of a place as parts of a JSON object, without braces; empty if there are none. */
export interface PlaceJson {
  /** Continent and country with code and name. */
  readonly country: string
  /** The same, with the flag and the unions of the country. */
  readonly countryWithEmblems: string
  readonly region: string
  /** District, city, postal code and coordinates. */
  readonly city: string
}

/** Finest last, so that levels compare as numbers. */
export const LEVEL = { continent: 1, country: 2, region: 3, city: 4 } as const
export type Level = (typeof LEVEL)[keyof typeof LEVEL]

export interface Named {
  readonly code: string
  readonly name: string
}

export interface Coordinates {
  readonly latitude: number
  readonly longitude: number
  /** Whole miles, at least 1. */
  readonly accuracyRadius?: number
}

export interface NetworkOwner {
  readonly asn: string | undefined
  readonly organization: string | undefined
  readonly domain: string | undefined
  /** The fields as a JSON object. */
  readonly json: string
}

export const NO_FINDING: LocationFinding = { place: undefined, network: undefined }
/** The network has no location, so those of databases after this one do not count. */
export const WITHHELD: LocationFinding = { place: undefined, network: undefined }
