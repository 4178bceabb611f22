import { PRIVACY_FIELDS, type PrivacyField } from '../../contract/geo/privacy.ts'
import type { DecodedMap } from '../mmdb/decoder.ts'
import { textAt, textsAt } from '../mmdb/fields.ts'
import { NO_FINDING } from '../place/finding.ts'
import type { Schema } from './schema.ts'

/** Keys of a record by the field that they state. */
type Keys = Readonly<Partial<Record<PrivacyField, string>>>

const MAXMIND_KEYS: Keys = {
  hosting: 'is_hosting_provider',
  vpn: 'is_anonymous_vpn',
  proxy: 'is_public_proxy',
  tor: 'is_tor_exit_node',
  residentialProxy: 'is_residential_proxy',
  provider: 'provider_name',
}

/**
 * MaxMind's Anonymous IP and Anonymous Plus. A flag is only in a record if it is true:
 * https://dev.maxmind.com/geoip/docs/databases/anonymous-plus/
 */
export const maxmindAnonymous: Schema = {
  name: 'maxmind-anonymous',
  fits: (sample) => 'is_anonymous' in sample,
  provider: () => 'maxmind',
  read: () => NO_FINDING,
  privacy: (record) => readKeys(record, MAXMIND_KEYS),
}

const IPINFO_KEYS: Keys = {
  hosting: 'hosting',
  vpn: 'vpn',
  proxy: 'proxy',
  tor: 'tor',
  relay: 'relay',
  service: 'service',
}

/**
 * IPinfo's Privacy Detection. A flag is a boolean, in older files "true" or an empty text:
 * https://ipinfo.io/developers/privacy-detection-database
 */
export const ipinfoPrivacy: Schema = {
  name: 'ipinfo-privacy',
  fits: (sample) => 'vpn' in sample && 'relay' in sample,
  provider: () => 'ipinfo',
  read: () => NO_FINDING,
  privacy: (record) => readKeys(record, IPINFO_KEYS),
}

/** The flag that a type of IP2Proxy means; search engines (SES) and company networks (EPN) have none. */
const PROXY_TYPES: ReadonlyMap<string | undefined, PrivacyField> = new Map([
  ['DCH', 'hosting'],
  ['VPN', 'vpn'],
  ['PUB', 'proxy'],
  ['WEB', 'proxy'],
  ['TOR', 'tor'],
  ['CPN', 'relay'],
  ['RES', 'residentialProxy'],
])
const NO_VALUE = '-'

/** IP2Proxy, with the columns of its CSV files: https://www.ip2location.com/database/ip2proxy */
export const ip2proxy: Schema = {
  name: 'ip2proxy',
  fits: (sample) => 'proxy_type' in sample,
  provider: () => 'ip2proxy',
  read: () => NO_FINDING,
  privacy: (record) => {
    const flag = PROXY_TYPES.get(textAt(record, 'proxy_type'))
    const provider = textAt(record, 'provider')
    return (field) => {
      if (field === 'provider') return provider === NO_VALUE ? undefined : provider
      return field === flag || undefined
    }
  },
}

const LIST_KEYS: Keys = Object.fromEntries(PRIVACY_FIELDS.map((field) => [field, field]))

/** The compiled free lists: their records name the sources. See `compileLists`. */
export const freeLists: Schema = {
  name: 'free-lists',
  fits: (sample) => 'sources' in sample,
  provider: () => 'lists',
  read: () => NO_FINDING,
  privacy: (record) => readKeys(record, LIST_KEYS),
  privacySources: (record) => textsAt(record, 'sources'),
}

/** Values of any other type state nothing. */
function readKeys(record: DecodedMap, keys: Keys) {
  return (field: PrivacyField): boolean | string | undefined => {
    const key = keys[field]
    if (key === undefined) return undefined
    if (field === 'service' || field === 'provider') return textAt(record, key)
    return FLAG_VALUES.get(record[key])
  }
}

const FLAG_VALUES: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [true, true],
  ['true', true],
  [false, false],
  ['false', false],
])
