import type { GenericSchema, InferOutput } from 'valibot'
import type { Caller } from '../lib/access/authenticate.ts'
import type { MediaType } from '../lib/contract/operation.ts'
import type { OperationRow } from '../lib/contract/operations.ts'
import type { Meter } from '../lib/limits/meter.ts'
import type { Address } from '../lib/parts/net/address.ts'

/** What the server knows about a request besides its Request object. */
export interface Env {
  Bindings: {
    readonly remoteAddress: string | undefined
    /** `1.1` or `1.0`. */
    readonly httpVersion?: string
    /** Reads the body, in less time than the Request object. */
    readonly readBody?: () => AsyncIterable<Uint8Array>
  }
}

/** The head of a request: Hono's Context, or made from a request that was read whole. */
export interface HeadContext {
  readonly env: Env['Bindings'] | undefined
  readonly req: {
    readonly method: string
    header(name: string): string | undefined
  }
}

/** A whole request: Hono's Context. */
export interface RequestContext extends HeadContext {
  readonly req: HeadContext['req'] & {
    param(): Readonly<Record<string, string>>
    /** The first value of each parameter. */
    query(): Readonly<Record<string, string>>
    /** All values of each parameter. */
    queries(): Readonly<Record<string, readonly string[]>>
    readonly raw: Request
  }
}

/** An admitted request, parsed as the contract says. */
export interface Call<Row extends OperationRow> {
  readonly requestId: string
  /** Epoch milliseconds at which the request arrived. */
  readonly now: number
  readonly params: Params<Row['path']>
  readonly query: OutputOf<Column<Row, 'query'>>
  /** The headers that the row names. */
  readonly headers: { readonly [Name in keyof Column<Row, 'headers'>]: string | undefined }
  /** Unparsed bytes if the row says `raw`. */
  readonly body: Column<Row, 'body'> extends { readonly raw: true }
    ? Uint8Array
    : OutputOf<Column<Column<Row, 'body'>, 'schema'>>
  /** The form of the answer that the caller prefers, of those that the row has. */
  readonly form: MediaType
  /** The header Accept-Language, for `lang=auto`. */
  readonly acceptLanguage: string | undefined
  /** Whether only the headers of the answer are sent, as for HEAD: then the handler must change nothing. */
  readonly isHead: boolean
  /** null only if the operation is public. */
  readonly caller: Row['access'] extends 'public' ? null : Caller
  /** null if the runtime does not know it. */
  readonly clientAddress: Address | null
  /** Whether that is a proxy that does not name its visitor, or is not trusted. */
  readonly clientIsProxy: boolean
  /** Whether the cap of the caller's plan is used up. */
  readonly degraded: boolean
  /** For handlers of bodies with several look-ups, which count them themselves. */
  readonly meter: Column<Row, 'requestsIn'> extends undefined
    ? unknown
    : Pick<Meter, 'left' | 'count'>
}

/** A status that the row allows, with its body. */
export type Reply<Row extends OperationRow> = Body<Row> & {
  /** Besides those of every answer. */
  readonly headers?: Readonly<Record<string, string>>
}

type Body<Row extends OperationRow> =
  | {
      [Status in keyof Row['replies']]: {
        readonly status: Status
        readonly body: OutputOf<Column<Row['replies'][Status], 'schema'>>
      }
    }[keyof Row['replies']]
  /** With the body as JSON text, for handlers that assemble it from prepared parts. `bytesAfter` follow it. */
  | {
      readonly status: keyof Row['replies']
      readonly json: string
      readonly bytesAfter?: readonly Uint8Array[]
    }
  /** In one of the row's media types. */
  | (TextReply & { readonly status: keyof Row['replies'] })
  | (FileReply & { readonly status: keyof Row['replies'] })

/** A text in a form that the client has chosen. */
export interface TextReply {
  readonly form: MediaType
  readonly text: string
  /** The bytes that follow `text`. */
  readonly bytesAfter?: readonly Uint8Array[]
}

/** A file to download, which is sent while it is made. */
export interface FileReply {
  readonly file: ReadableStream<Uint8Array>
  readonly name: string
}

export type Handler<Row extends OperationRow> = (
  call: Call<Row>,
) => Reply<Row> | Promise<Reply<Row>>

/** One handler per operation; a missing one does not compile. routes/api/beacon.ts serves beacons. */
export type Handlers = {
  [Row in OperationRow as Exclude<Row['id'], 'sendBeacon'>]: Handler<Row>
}

type Column<Row, Name extends PropertyKey> = Row extends { readonly [Key in Name]: infer Value }
  ? Value
  : undefined

type OutputOf<Schema> = Schema extends GenericSchema ? InferOutput<Schema> : undefined

/** The names in braces of a path such as /v1/ip/{ipAddress}. */
type Params<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name]: string } & Params<Rest>
  : unknown
