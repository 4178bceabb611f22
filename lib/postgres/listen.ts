import type pg from 'pg'
import { SECOND_MS } from '../parts/durations.ts'
import { repeat } from '../parts/repeat.ts'
import { type Channels, QUICK_MS } from './connection.ts'

/** How often to ask whether the connection still works. */
const PROBE_MS = 5 * SECOND_MS

/**
 * Listens on a connection of its own, and connects again after it was lost or has stalled. PostgreSQL wakes
 * every listening connection at each notice, whatever its channel: so one connection for all channels is best.
 */
export async function listen(
  open: () => Promise<pg.Client>,
  channels: Channels,
  onError: (error: unknown) => void,
): Promise<AsyncDisposable> {
  let client: pg.Client | undefined
  let retry: NodeJS.Timeout | undefined
  let isClosed = false
  const connect = async () => {
    client = await open()
    if (isClosed) return
    client.on('notification', ({ channel, payload }) => channels[channel]?.(payload ?? ''))
    client.on('error', onError)
    client.on('end', connectLater)
    await client.connect()
    for (const channel of Object.keys(channels)) await client.query(`LISTEN ${channel}`)
    for (const heard of Object.values(channels)) heard()
  }
  const end = () => {
    client?.end().catch(() => {})
  }
  const connectLater = () => {
    if (isClosed || retry !== undefined) return
    retry = setTimeout(() => {
      retry = undefined
      // The loss was reported: further failures would only repeat it, many times a second.
      connect().catch(() => {
        // It may be connected to a standby that is not promoted yet, which refuses LISTEN.
        end()
        connectLater()
      })
    }, SECOND_MS / 10)
  }
  const probe = async () => {
    if (retry !== undefined) return
    await client?.query({ text: 'SELECT', ...{ query_timeout: QUICK_MS } }).catch(end)
  }
  const probing = repeat(PROBE_MS, probe, onError)
  const close = async () => {
    isClosed = true
    probing[Symbol.dispose]()
    clearTimeout(retry)
    await client?.end()
  }
  try {
    await connect()
  } catch (error) {
    await close().catch(() => {})
    throw error
  }
  return { [Symbol.asyncDispose]: close }
}
