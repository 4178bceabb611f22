import { setTimeout as sleep } from 'node:timers/promises'
import type { Target } from '../parts/servers.ts'
import { printTable, type Row } from '../parts/table.ts'

interface Key {
  readonly id: string
  readonly text: string
}

const REVOCATIONS = 1_000
const QUIET = 100
const LOADERS = 6
const KEYS_PER_USER = 5

/**
 * Revokes keys one after another, each on another server: first alone, then next to look-ups. When a revocation
 * is answered, all servers must know of it, so each of them is asked with the key at once.
 */
export async function benchRevocations(nodes: readonly Target[], keys: readonly Key[]) {
  const quiet = await revoke(nodes, keys, { from: 0, count: QUIET })
  const ending = new AbortController()
  const loaders = Array.from({ length: LOADERS }, (_, at) =>
    lookUpAgain(nodes[at % nodes.length], keys.at(-1 - at), ending.signal),
  )
  const loaded = await revoke(nodes, keys, { from: QUIET, count: REVOCATIONS }).finally(() =>
    ending.abort(),
  )
  const lookUps = (await Promise.all(loaders)).reduce((sum, one) => sum + one)
  const rows = [
    { load: 'none', ...quiet },
    { load: `${Math.round(lookUps / loaded.seconds)} look-ups/s`, ...loaded },
  ]
  const shown = rows.map(({ seconds: _, ...row }): Row => row)
  printTable(shown, 'Revocations: from the request to the answer, before which all servers know')
}

async function revoke(
  nodes: readonly Target[],
  keys: readonly Key[],
  { from, count }: { readonly from: number; readonly count: number },
) {
  const times: number[] = []
  let accepted = 0
  const startedAt = performance.now()
  for (let n = from; n < from + count; n++) {
    // A key of each user revokes another one of the user.
    const [owner, revoked] = keys.slice(n * KEYS_PER_USER, n * KEYS_PER_USER + 2)
    const node = nodes[n % nodes.length]
    if (owner === undefined || revoked === undefined || node === undefined) break
    const askedAt = performance.now()
    const { origin } = new URL(node.url)
    const answer = await fetch(`${origin}/v1/account/me/keys/${revoked.id}`, {
      method: 'DELETE',
      headers: { 'x-api-key': owner.text, 'x-forwarded-for': addressOf(n) },
    })
    await answer.text()
    times.push(performance.now() - askedAt)
    if (answer.status !== 200) throw new Error(`A revocation was answered ${answer.status}`)
    const statuses = await Promise.all(nodes.map((each) => lookUp(each, revoked)))
    accepted += statuses.filter((status) => status === 200).length
    const other = statuses.find((status) => status !== 200 && status !== 401)
    if (other !== undefined) throw new Error(`A revoked key was answered ${other}`)
  }
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor(share * (times.length - 1))] ?? Number.NaN
  return {
    revocations: times.length,
    'p50 ms': at(0.5),
    'p99 ms': at(0.99),
    'longest ms': at(1),
    'accepted afterwards': accepted,
    seconds: (performance.now() - startedAt) / 1_000,
  }
}

/** Users and addresses are limited. */
function addressOf(n: number): string {
  return `10.255.${n >> 8}.${n & 255}`
}

let clients = 0

/** Sends each request from another address, since unknown keys of one address are limited. */
async function lookUp({ url }: Target, { text }: Key): Promise<number> {
  clients += 1
  const address = `10.${clients >> 16}.${(clients >> 8) & 255}.${clients & 255}`
  const headers = { 'x-api-key': text, 'x-forwarded-for': address }
  const answer = await fetch(`${url}8.8.8.8`, { headers })
  await answer.text()
  return answer.status
}

/** Looks up again and again. Returns how often. */
async function lookUpAgain(
  node: Target | undefined,
  key: Key | undefined,
  signal: AbortSignal,
): Promise<number> {
  let count = 0
  while (node !== undefined && key !== undefined && !signal.aborted) {
    await lookUp(node, key)
    count += 1
    await sleep(1)
  }
  return count
}
