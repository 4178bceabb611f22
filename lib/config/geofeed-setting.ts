import * as v from 'valibot'
import { type Network, networkText, parseNetwork, unmappedNetwork } from '../parts/net/network.ts'
import { isConfidentialUrl } from './confidential-url.ts'

/** A geofeed (RFC 8805), and the blocks that it may speak for. */
export interface Geofeed {
  /** Its https URL, or the path of its file. */
  readonly source: string
  readonly blocks: readonly Network[]
}

/** A geofeed, or the path of a file with registry objects that refer to geofeeds (RFC 9632). */
export type GeofeedSetting = Geofeed | { readonly objects: string }

/** Reads `feed=block+block` or `objects`, separated by commas. No two feeds may have the same block. */
export const GeofeedSettings = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const parts = dataset.value.split(',').map((part) => part.trim())
    const settings = parts.filter((part) => part !== '').map(readSetting)
    const problem = settings.find((setting) => typeof setting === 'string')
    const valid = settings.filter((setting) => typeof setting !== 'string')
    const message =
      problem ?? problemOfBlocks(valid.flatMap((one) => ('blocks' in one ? one.blocks : [])))
    if (message === undefined) return valid
    addIssue({ message })
    return NEVER
  }),
)

export function isUrl(source: string): boolean {
  return /^https?:/i.test(source)
}

/** Returns what is wrong, or the setting. A URL may have `=` in it, a block has none. */
function readSetting(part: string): GeofeedSetting | string {
  const equals = part.lastIndexOf('=')
  if (equals === -1 && !isUrl(part)) return { objects: part }
  const source = part.slice(0, Math.max(0, equals)).trim()
  const blocks = part
    .slice(equals + 1)
    .split('+')
    .map((text) => parseNetwork(text.trim()))
  const known = blocks.filter((block) => block !== null)
  if (source === '' || known.length < blocks.length) {
    return 'must name the blocks of each geofeed, such as https://example.net/geofeed.csv=192.0.2.0/24+2001:db8::/32'
  }
  if (isUrl(source) && !isConfidentialUrl(source)) return 'must have https URLs without a password'
  return { source, blocks: known.map(unmappedNetwork) }
}

/** Returns what is wrong with the blocks of all feeds; undefined: nothing. */
export function problemOfBlocks(blocks: readonly Network[]): string | undefined {
  const taken = new Set<string>()
  for (const { address, prefix } of blocks) {
    const text = networkText(address, prefix)
    if (taken.has(text)) return `must not have the block ${text} twice`
    taken.add(text)
  }
  return undefined
}
