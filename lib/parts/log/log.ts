import pino from 'pino'
import { LineSink } from './line-sink.ts'
import { type LineStyle, toText } from './text-line.ts'

export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  request(line: RequestLine): void
  /** Writes whole lines in UTF-8 that another process has made. */
  writeBytes(lines: Uint8Array): void
  /** Writes all buffered lines. */
  flush(): void
}

/** One answered request. Holds neither a key nor a full client address. */
export interface RequestLine {
  /** Epoch milliseconds of its arrival. */
  readonly time: number
  readonly requestId: string
  readonly method: string
  /** Path of the operation with its parameters in braces; undefined for unknown paths. */
  readonly route: string | undefined
  /** The beginning of an unknown path: see `beginningOf`; undefined for known paths. */
  readonly path: string | undefined
  readonly status: number
  /** Milliseconds until it was answered. */
  readonly ms: number
  /** Prefix of the key. */
  readonly key: string | undefined
  /** Network of the client. */
  readonly client: string | undefined
  /** Trace and parent span of the caller (W3C Trace Context); both or neither. */
  readonly traceId: string | undefined
  readonly parentId: string | undefined
}

const INFO = 30

interface LogOptions {
  readonly level: string
  readonly fd: number
  readonly style?: LineStyle
  /** This process's number, put into each line if several processes share the log. */
  readonly node?: number | undefined
}

/** Writes one line per event to the file descriptor `fd`: buffered, but errors at once. */
export function createLog({ level, fd, style = 'json', node }: LogOptions): Log {
  const sink = new LineSink(fd)
  const styled =
    style === 'json' ? sink : { write: (json: string) => sink.write(toText(json, style)) }
  const lines =
    node === undefined
      ? styled
      : { write: (json: string) => styled.write(`{"node":${node},${json.slice(1)}`) }
  const logger = pino({ level, base: null, serializers: { err: plainError } }, lines)
  const logsRequests = logger.isLevelEnabled('info')
  return {
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => {
      logger.error(fields, message)
      sink.flush()
    },
    request: (line) => {
      if (logsRequests) lines.write(requestLine(line))
    },
    writeBytes: (bytes) => {
      if (style === 'json') sink.writeBytes(bytes)
      else for (const line of linesIn(bytes)) sink.write(styleLine(line, style))
    },
    flush: () => sink.flush(),
  }
}

/** Lines of other processes may also come from code that does not use this log. */
function styleLine(line: string, style: Exclude<LineStyle, 'json'>): string {
  try {
    return line.startsWith('{') ? toText(line, style) : line
  } catch {
    return line
  }
}

function linesIn(bytes: Uint8Array): string[] {
  return Buffer.from(bytes)
    .toString()
    .split(/(?<=\n)/)
}

/** Drops extra properties of an error, which may hold user input or query values. */
function plainError(error: unknown) {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack } = error
  const code = 'code' in error ? String(error.code) : undefined
  return { type: name, message, stack, code }
}

/**
 * The same line as pino would write, at a fifth of the cost. Only an unknown path needs escaping: the
 * method is an HTTP token and the route is one of ours.
 */
function requestLine(line: RequestLine): string {
  const { time, requestId, method, route, path, status, ms, key, client, traceId, parentId } = line
  const head = `{"level":${INFO},"time":${time},"requestId":"${requestId}","method":"${method}"`
  const outcome = `,"status":${status},"ms":${Math.round(ms * 1_000) / 1_000}`
  const routeField = route === undefined ? '' : `,"route":"${route}"`
  const pathField = path === undefined ? '' : `,"path":${JSON.stringify(path)}`
  const keyField = key === undefined ? '' : `,"key":"${key}"`
  const clientField = client === undefined ? '' : `,"client":"${client}"`
  const trace = traceId === undefined ? '' : `,"traceId":"${traceId}","parentId":"${parentId}"`
  return `${head}${routeField}${pathField}${outcome}${keyField}${clientField}${trace},"msg":"request"}\n`
}

/** Discards everything. */
export const silentLog: Log = {
  info: () => {},
  warn: () => {},
  error: () => {},
  request: () => {},
  writeBytes: () => {},
  flush: () => {},
}
