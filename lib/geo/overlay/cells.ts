import { csvParseRows } from 'd3-dsv'
import { embeddedIpv4, isIpv4Compatible } from '../../parts/net/embedded-ipv4.ts'
import { type Network, parseNetwork, unmappedNetwork } from '../../parts/net/network.ts'

/** RFC 4180: a quoted cell is quoted from its start to its end. */
const LINE = /^("([^"]|"")*"|[^",]*)(,("([^"]|"")*"|[^",]*))*$/

/** Reads a single line: an unclosed quote must not swallow the lines below. Throws if a quote is wrong. */
export function readCells(line: string): string[] {
  if (!LINE.test(line)) {
    throw new Error('a quote is not closed or is in the middle of a column; write "A ""B"" C"')
  }
  return (csvParseRows(line)[0] ?? []).map((cell) => cell.trim())
}

/** Reads a network whose addresses can be looked up. Throws with the reason if it is none. */
export function readNetwork(cell: string): Network {
  const network = parseNetwork(cell)
  if (network === null) throw new Error(`"${cell}" is not a network such as 10.0.0.0/8`)
  const plain = unmappedNetwork(network)
  if (isNeverLookedUp(plain)) {
    throw new Error(`"${cell}" is never looked up: write the IPv4 network that it embeds, if any`)
  }
  return plain
}

function isNeverLookedUp({ address, prefix }: Network): boolean {
  if (address.version === 4) return false
  const { words } = address
  return (
    (prefix >= 96 && isIpv4Compatible(words)) ||
    (prefix >= 32 && embeddedIpv4(words)?.isAlias === true)
  )
}
