import { Resolver } from 'node:dns/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** Finds the TXT records of a host; empty if it has none. Throws if the DNS gives no answer. */
export type FindTxt = (host: string) => Promise<readonly string[]>

const ATTEMPT_MS = 1_500
const ATTEMPTS = 2
const LIMIT_MS = 5_000

/**
 * The host has no such record, does not exist, or has a name that is too long for the DNS. Deno also
 * reports ENOTFOUND if the server answers that it failed.
 */
const ABSENT: ReadonlySet<unknown> = new Set(['ENODATA', 'ENOTFOUND', 'EBADNAME'])

/** `servers`: IP addresses, with or without a port; default: those of the system. */
export function createFindTxt(servers?: readonly string[]): FindTxt {
  return async (host) => {
    const resolver = new Resolver({ timeout: ATTEMPT_MS, tries: ATTEMPTS })
    if (servers !== undefined) resolver.setServers(servers)
    try {
      const records = await Promise.race([resolver.resolveTxt(host), failLater(host)])
      return records.map((parts) => parts.join(''))
    } catch (error) {
      if (error instanceof Error && 'code' in error && ABSENT.has(error.code)) return []
      throw error
    }
  }
}

async function failLater(host: string): Promise<never> {
  await sleep(LIMIT_MS, undefined, { ref: false })
  throw new Error(`No DNS server answered for ${host} within ${LIMIT_MS / 1_000} s`)
}
