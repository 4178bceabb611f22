import * as v from 'valibot'
import { reasonOf } from '../../parts/reason.ts'

/** Reads the networks of a list as its owner publishes them, in CIDR form. Throws if it has another form. */
export type ReadEntries = (text: string) => string[]

const Text = v.string()

/** https://docs.aws.amazon.com/vpc/latest/userguide/aws-ip-syntax.html */
export const readAws = jsonReader(
  v.object({
    prefixes: v.array(v.object({ ip_prefix: Text })),
    ipv6_prefixes: v.array(v.object({ ipv6_prefix: Text })),
  }),
  ({ prefixes, ipv6_prefixes }) => [
    ...prefixes.map(({ ip_prefix }) => ip_prefix),
    ...ipv6_prefixes.map(({ ipv6_prefix }) => ipv6_prefix),
  ],
)

/** goog.json and cloud.json: https://support.google.com/a/answer/10026322 */
export const readGoogle = jsonReader(
  v.object({
    prefixes: v.array(v.union([v.object({ ipv4Prefix: Text }), v.object({ ipv6Prefix: Text })])),
  }),
  ({ prefixes }) => prefixes.map((one) => ('ipv4Prefix' in one ? one.ipv4Prefix : one.ipv6Prefix)),
)

/** Service tags, whose prefixes repeat: https://learn.microsoft.com/azure/virtual-network/service-tags-overview */
export const readAzure = jsonReader(
  v.object({
    values: v.array(v.object({ properties: v.object({ addressPrefixes: v.array(Text) }) })),
  }),
  ({ values }) => values.flatMap(({ properties }) => properties.addressPrefixes),
)

/** https://docs.oracle.com/iaas/Content/General/Concepts/addressranges.htm */
export const readOracle = jsonReader(
  v.object({ regions: v.array(v.object({ cidrs: v.array(v.object({ cidr: Text })) })) }),
  ({ regions }) => regions.flatMap(({ cidrs }) => cidrs.map(({ cidr }) => cidr)),
)

/** https://www.fastly.com/documentation/reference/api/utils/public-ip-list/ */
export const readFastly = jsonReader(
  v.object({ addresses: v.array(Text), ipv6_addresses: v.array(Text) }),
  ({ addresses, ipv6_addresses }) => [...addresses, ...ipv6_addresses],
)

/** Plain lists, and CSV with the network in the first column, such as geofeeds (RFC 8805). */
export const readLines: ReadEntries = (text) =>
  text
    .split(/\r?\n/)
    .map((line) => /^[^,#]*/.exec(line)?.[0].trim() ?? '')
    .filter((entry) => entry !== '')

function jsonReader<Schema extends v.GenericSchema>(
  schema: Schema,
  entriesOf: (list: v.InferOutput<Schema>) => string[],
): ReadEntries {
  return (text) => {
    const result = v.safeParse(schema, parseJson(text))
    if (result.success) return entriesOf(result.output)
    const path = v.getDotPath(result.issues[0]) ?? 'the list'
    throw new Error(`it has another form than before: ${path}: ${result.issues[0].message}`)
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (cause) {
    throw new Error(`it is not JSON: ${reasonOf(cause)}`, { cause })
  }
}
