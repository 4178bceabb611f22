import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'

const NAME = 'proxy.json'

/** A proxy that is not trusted, but names clients in a header. */
const SeenProxy = v.object({
  address: v.string(),
  /** The network of the address, for messages. */
  network: v.string(),
  header: v.string(),
})
export type SeenProxy = v.InferOutput<typeof SeenProxy>

/** Keeps for the doctor, which is another process, what the server has seen. It is only a hint: failures are ignored. */
export function rememberProxy(dataDir: string, seen: SeenProxy): void {
  try {
    writeFileSync(join(dataDir, NAME), `${JSON.stringify(seen)}\n`, { mode: 0o600 })
  } catch {}
}

/** Returns null if the server has seen none since its start. */
export function recallProxy(dataDir: string): SeenProxy | null {
  try {
    return v.parse(SeenProxy, JSON.parse(readFileSync(join(dataDir, NAME), 'utf8')))
  } catch {
    return null
  }
}

/** A server begins with it: the settings may have changed. */
export function forgetProxy(dataDir: string): void {
  rmSync(join(dataDir, NAME), { force: true })
}

export function proxyProblem({ network, header }: Omit<SeenProxy, 'address'>): string {
  return `A proxy in ${network} sends ${header}, but is not trusted, so all its clients share one address`
}

export const PROXY_ADVICE = 'if it is yours, name it in MERIDIAN_TRUSTED_PROXIES'
