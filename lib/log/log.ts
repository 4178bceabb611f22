import pino from 'pino'
import { LineSink } from './line-sink.ts'

export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  request(line: RequestLine): void
  /** Writes out what is buffered. */
  flush(): void
}

/** One answered request. Holds no key and no full address. */
export interface RequestLine {
  /** Epoch milliseconds at which it came in. */
  readonly time: number
  readonly requestId: string
  readonly method: string
  /** Path of the operation with its parameters in braces; undefined where it is none of ours. */
  readonly route: string | undefined
  readonly status: number
  /** Milliseconds until it was answered. */
  readonly ms: number
  /** Prefix of the key. */
  readonly key: string | undefined
  /** Network of the client. */
  readonly client: string | undefined
  /** The trace that it belongs to, and the step of it that asks; both or none. */
  readonly traceId: string | undefined
  readonly parentId: string | undefined
}

export interface LogOptions {
  readonly level: string
  /** File descriptor; 1 is stdout. */
  readonly fd: number
}

const INFO = 30

/** One JSON line per event, gathered by a `LineSink`; errors are written at once. */
export function createLog({ level, fd }: LogOptions): Log {
  const sink = new LineSink(fd)
  const logger = pino({ level, base: null, serializers: { err: plainError } }, sink)
  const logsRequests = logger.isLevelEnabled('info')
  return {
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => {
      logger.error(fields, message)
      sink.flush()
    },
    request: (line) => {
      if (logsRequests) sink.write(requestLine(line))
    },
    flush: () => sink.flush(),
  }
}

/** Without what else hangs on an error, such as the input that was no good or the values of a query. */
function plainError(error: unknown) {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack } = error
  const code = 'code' in error ? String(error.code) : undefined
  return { type: name, message, stack, code }
}

/**
 * The line as pino would write it, at a fifth of the price. Nothing in it needs escaping but the
 * method, which may be any token, and the route, which is ours.
 */
function requestLine(line: RequestLine): string {
  const { time, requestId, method, route, status, ms, key, client, traceId, parentId } = line
  const start = `{"level":${INFO},"time":${time},"requestId":"${requestId}","method":"${method}"`
  const end = `,"status":${status},"ms":${Math.round(ms * 1_000) / 1_000}`
  const path = route === undefined ? '' : `,"route":"${route}"`
  const who = key === undefined ? '' : `,"key":"${key}"`
  const where = client === undefined ? '' : `,"client":"${client}"`
  const trace = traceId === undefined ? '' : `,"traceId":"${traceId}","parentId":"${parentId}"`
  return `${start}${path}${end}${who}${where}${trace},"msg":"request"}\n`
}

/** A log that keeps nothing. */
export const silentLog: Log = {
  info: () => {},
  warn: () => {},
  error: () => {},
  request: () => {},
  flush: () => {},
}
