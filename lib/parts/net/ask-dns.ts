import { Resolver } from 'node:dns/promises'

interface AskOptions {
  /** IP addresses, with or without a port; undefined: the servers of the system. */
  readonly servers: readonly string[] | undefined
  /** How long one server may take. Then the next server is asked, or the same one again. */
  readonly attemptMs: number
  /** How long all attempts may take together. */
  readonly limitMs: number
}

const ATTEMPTS = 2

/**
 * The name has no such record, does not exist, or is too long for the DNS. Deno also reports ENOTFOUND
 * if the server answers that it failed.
 */
const ABSENT: ReadonlySet<unknown> = new Set(['ENODATA', 'ENOTFOUND', 'EBADNAME'])

/** Returns the records that `ask` finds; empty if there are none. Throws if the DNS gives no answer in time. */
export async function askDns<Found>(
  ask: (resolver: Resolver) => Promise<readonly Found[]>,
  { servers, attemptMs, limitMs }: AskOptions,
): Promise<readonly Found[]> {
  const resolver = new Resolver({ timeout: attemptMs, tries: ATTEMPTS })
  if (servers !== undefined) resolver.setServers(servers)
  const { promise: late, reject } = Promise.withResolvers<never>()
  const fail = () => {
    reject(new Error(`No DNS server answered within ${limitMs / 1_000} s`))
    // Otherwise the attempts would go on.
    resolver.cancel()
  }
  const timer = setTimeout(fail, limitMs)
  try {
    return await Promise.race([ask(resolver), late])
  } catch (error) {
    if (error instanceof Error && 'code' in error && ABSENT.has(error.code)) return []
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Whether the texts are IP addresses, with or without a port; at least one. */
export function isDnsServers(servers: string[]): boolean {
  try {
    new Resolver().setServers(servers)
    return servers.length > 0
  } catch {
    return false
  }
}
