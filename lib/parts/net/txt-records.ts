import { askDns } from './ask-dns.ts'

/** Finds the TXT records of a host; empty if it has none. Throws if the DNS gives no answer. */
export type FindTxt = (host: string) => Promise<readonly string[]>

/** `servers`: IP addresses, with or without a port; default: those of the system. */
export function createFindTxt(servers?: readonly string[]): FindTxt {
  const options = { servers, attemptMs: 1_500, limitMs: 5_000 }
  return async (host) => {
    const records = await askDns((resolver) => resolver.resolveTxt(host), options)
    return records.map((parts) => parts.join(''))
  }
}
