import { type Address, unmapped } from './address.ts'
import { askDns } from './ask-dns.ts'

/** Asks for the name of a public address; undefined if it has none. Throws if the DNS gives no answer. */
export type AskHostname = (address: Address) => Promise<string | undefined>

/** `servers`: IP addresses, with or without a port; undefined: those of the system. */
export function createAskHostname(servers: readonly string[] | undefined): AskHostname {
  const options = { servers, attemptMs: 700, limitMs: 1_500 }
  return async (address) => {
    const names = await askDns((resolver) => resolver.resolvePtr(pointerName(address)), options)
    return names.map(toHost).find((name) => HOST.test(name))
  }
}

/** A host name of letters, digits, `-`, `_` and dots. The owner of the address may choose any text. */
const HOST = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)+$/

function toHost(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}

/** The name of the PTR record: RFC 1035, section 3.5, and RFC 3596, section 2.5. */
function pointerName(address: Address): string {
  const plain = unmapped(address)
  if (plain.version === 4) return `${plain.text.split('.').reverse().join('.')}.in-addr.arpa`
  const digits = plain.words.map((word) => word.toString(16).padStart(8, '0')).join('')
  return `${[...digits].reverse().join('.')}.ip6.arpa`
}
