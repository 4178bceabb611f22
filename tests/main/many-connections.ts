import assert from 'node:assert/strict'
import { once } from 'node:events'
import { openConnection, parseAnswer, type RawConnection } from '../support/raw-connection.ts'

/** So many that each of three processes has some, but for once in 90 million times. */
export const CONNECTIONS = 48

export function openMany(url: string): Promise<RawConnection[]> {
  return Promise.all(Array.from({ length: CONNECTIONS }, () => openConnection(url)))
}

/** Looks up an address on the connection. Returns the status. */
async function lookUp(connection: RawConnection, key: string): Promise<number> {
  const { socket, received, ended } = connection
  const start = received().length
  socket.write(`GET /v1/ip/81.2.69.160 HTTP/1.1\r\nHost: a.example\r\nX-API-Key: ${key}\r\n\r\n`)
  for (;;) {
    const text = received().slice(start)
    const [head = '', body] = text.split('\r\n\r\n', 2)
    const length = /^content-length: (\d+)$/im.exec(head)?.[1]
    if (body !== undefined && body.length >= Number(length)) return parseAnswer(text).status
    assert.ok(!socket.destroyed, `the connection has ended after ${JSON.stringify(text)}`)
    await Promise.race([once(socket, 'data'), ended])
  }
}

/** Looks up on all connections, `rounds` times. Returns how often each status was answered. */
export async function lookUpOnAll(
  connections: readonly RawConnection[],
  key: string,
  rounds: number,
): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  await Promise.all(
    connections.map(async (connection) => {
      for (let round = 0; round < rounds; round++) {
        const status = await lookUp(connection, key)
        counts[status] = (counts[status] ?? 0) + 1
      }
    }),
  )
  return counts
}

/**
 * Asserts that a caller who may send 10 requests a minute gets them on many connections, and at one moment at most
 * `ahead` more.
 */
export async function assertTenAMinute(
  url: string,
  key: string,
  { ahead }: { readonly ahead: number },
): Promise<void> {
  const connections = await openMany(url)
  const began = performance.now()
  const counts = await lookUpOnAll(connections, key, 5)
  // One more every six seconds.
  const most = 10 + ahead + Math.floor((performance.now() - began) / 6_000) + 1
  const allowed = counts[200] ?? 0
  assert.ok(allowed >= 10 && allowed <= most, JSON.stringify(counts))
  close(connections)
}

/**
 * Asserts that a key is refused on all connections once its revocation is answered. `owner`: a key with full access.
 * `longestMs`: after this long, the answer does not wait for all who must know.
 */
export async function assertRevokes(
  url: string,
  owner: string,
  { longestMs }: { readonly longestMs: number },
): Promise<void> {
  const connections = await openMany(url)
  const headers = { 'x-api-key': owner, 'content-type': 'application/json' }
  const keys = `${url}/v1/account/me/keys`
  for (let attempt = 0; attempt < 5; attempt++) {
    const body = JSON.stringify({ name: `short ${attempt}`, type: 'secret' })
    const created = Object(await (await fetch(keys, { method: 'POST', headers, body })).json())
    const before = await lookUpOnAll(connections, created.rawKey, 4)
    assert.deepEqual(before, { 200: CONNECTIONS * 4 })
    const askedAt = performance.now()
    const revoked = await fetch(`${keys}/${created.id}`, { method: 'DELETE', headers })
    assert.equal(revoked.status, 200)
    if (performance.now() - askedAt >= longestMs) continue
    const after = await lookUpOnAll(connections, created.rawKey, 1)
    // Too many refusals of an address are limited.
    assert.equal((after[401] ?? 0) + (after[429] ?? 0), CONNECTIONS, JSON.stringify(after))
  }
  close(connections)
}

export function close(connections: readonly RawConnection[]): void {
  for (const { socket } of connections) socket.destroy()
}
