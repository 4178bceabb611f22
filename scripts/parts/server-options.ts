import { TEXT } from './options.ts'
import { UsageError } from './run.ts'

export interface Server {
  /** The address of the service, without a slash at the end. */
  readonly url: string
  readonly key: string
}

export const SERVER_OPTIONS = { url: TEXT, key: TEXT } as const

export const SERVER_USAGE = `To ask a server instead of the databases here; each address counts as one request of the key:
  --url URL        its address; default: MERIDIAN_URL in the environment, if it is set
  --key KEY        an API key; better: MERIDIAN_KEY in the environment, because other users of this
                   machine can see command lines
`

interface Values {
  readonly url?: string | undefined
  readonly key?: string | undefined
}

/** Returns undefined if neither the options nor the environment name a server. Never shows the key. */
export function toServer(values: Values, usage: string): Server | undefined {
  const { MERIDIAN_URL, MERIDIAN_KEY } = process.env
  const url = values.url ?? (MERIDIAN_URL || undefined)
  const key = values.key ?? (MERIDIAN_KEY || undefined)
  if (url === undefined && key === undefined) return undefined
  if (url === undefined) throw new UsageError('A key needs --url or MERIDIAN_URL', usage)
  if (key === undefined) throw new UsageError('A server needs MERIDIAN_KEY or --key', usage)
  if (!/^[!-~]+$/.test(key)) {
    throw new UsageError('The key contains characters that no key contains', usage)
  }
  return { url: readUrl(url, usage), key }
}

function readUrl(text: string, usage: string): string {
  const url = URL.parse(text)
  const isPlain = url !== null && `${url.username}${url.password}${url.search}${url.hash}` === ''
  if (!isPlain || !/^https?:$/.test(url.protocol)) {
    throw new UsageError('The URL must be an address such as https://geo.example', usage)
  }
  return url.href.replace(/\/+$/, '')
}
