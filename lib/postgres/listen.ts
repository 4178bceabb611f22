import type pg from 'pg'
import { SECOND_MS } from '../durations.ts'
import { repeat } from '../periodic.ts'
import { SOON_MS } from './connection.ts'

interface Listener {
  readonly heard: () => void
  readonly onError: (error: unknown) => void
}

/** How often to ask whether the connection still works. */
const PROBE_MS = 5 * SECOND_MS

/** Listens on a connection of its own, and connects again after it was lost or has stalled. */
export async function listen(
  open: () => pg.Client,
  channel: string,
  { heard, onError }: Listener,
): Promise<AsyncDisposable> {
  let client: pg.Client | undefined
  let retry: NodeJS.Timeout | undefined
  let isClosed = false
  const connect = async () => {
    client = open()
    client.on('notification', heard)
    client.on('error', onError)
    client.on('end', connectLater)
    await client.connect()
    await client.query(`LISTEN ${channel}`)
    heard()
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
    await client?.query({ text: 'SELECT', ...{ query_timeout: SOON_MS } }).catch(end)
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
