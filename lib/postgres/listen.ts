import type pg from 'pg'
import { SECOND_MS } from '../durations.ts'

interface Listener {
  readonly heard: () => void
  readonly onError: (error: unknown) => void
}

/** Listens on a connection of its own, and connects again after it was lost. */
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
  const connectLater = () => {
    if (isClosed || retry !== undefined) return
    retry = setTimeout(() => {
      retry = undefined
      // The loss was reported: further failures would only repeat it, many times a second.
      connect().catch(connectLater)
    }, SECOND_MS / 10)
  }
  await connect()
  return {
    [Symbol.asyncDispose]: async () => {
      isClosed = true
      clearTimeout(retry)
      await client?.end()
    },
  }
}
