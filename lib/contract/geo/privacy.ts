import * as v from 'valibot'
import { flag, strictObject, text } from '../common.ts'

/** The fields that are true or false. */
const FLAGS = {
  hosting: v.optional(flag('It belongs to a cloud, a hosting provider or a CDN')),
  vpn: v.optional(flag('A VPN uses it')),
  proxy: v.optional(flag('It is a public proxy')),
  tor: v.optional(flag('It is an exit of the Tor network')),
  relay: v.optional(flag('A relay such as iCloud Private Relay uses it')),
  residentialProxy: v.optional(flag('It is a proxy with the address of a household')),
}

const FIELDS = {
  ...FLAGS,
  service: v.optional(text('The service that uses it, such as Amazon AWS')),
  provider: v.optional(text('The provider of the VPN or proxy, such as NordVPN')),
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
