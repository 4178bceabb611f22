import * as v from 'valibot'
import { strictObject } from '../common.ts'

const flag = (meaning: string) => v.optional(v.pipe(v.boolean(), v.description(meaning)))
const name = (meaning: string) => v.optional(v.pipe(v.string(), v.description(meaning)))

/** The fields that are true or false. */
const FLAGS = {
  hosting: flag('It belongs to a cloud, a hosting provider or a CDN'),
  vpn: flag('A VPN uses it'),
  proxy: flag('It is a public proxy'),
  tor: flag('It is an exit of the Tor network'),
  relay: flag('A relay such as iCloud Private Relay uses it'),
  residentialProxy: flag('It is a proxy with the address of a household'),
}

const FIELDS = {
  ...FLAGS,
  service: name('The service that uses it, such as Amazon AWS'),
  provider: name('The provider of the VPN or proxy, such as NordVPN'),
}

export const Privacy = strictObject(
  'Only if included: whether the address hides who uses it. A field that no loaded source states is omitted, never false',
  FIELDS,
)
export type Privacy = v.InferOutput<typeof Privacy>
export type PrivacyField = keyof typeof FIELDS
export type PrivacyFlag = keyof typeof FLAGS

// safe: the objects above have these keys only
export const PRIVACY_FIELDS = Object.keys(FIELDS) as PrivacyField[]
// safe: likewise
export const PRIVACY_FLAGS = Object.keys(FLAGS) as PrivacyFlag[]
