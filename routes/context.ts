import type { GenericSchema, InferOutput } from 'valibot'
import type { Caller } from '../lib/access/authenticate.ts'
import type { Address } from '../lib/address.ts'
import type { OperationRow } from '../lib/contract/operations.ts'
import type { Incoming } from '../lib/parse.ts'

/** What the runtime tells of a request beside the Request. */
export interface Env {
  Bindings: {
    readonly remoteAddress: string | undefined
    /** The dashboard asks, in this process, for the user of a session. */
    readonly app?: 'dashboard'
    /** The same visit has found the session to be good. */
    readonly isSignedIn?: boolean
  }
}

/** What is read of a request: Hono's Context has it, and so has what goes straight to `serve`. */
export interface Asked {
  readonly env: Env['Bindings'] | undefined
  readonly req: AskedRequest
}

export interface AskedRequest {
  readonly method: string
  header(name: string): string | undefined
  param(): Readonly<Record<string, string>>
  /** null: there is none, and the operation needs none. */
  query(): Readonly<Record<string, string>> | null
  /** Undefined where no body is read, or from `incoming`. */
  readonly raw: Request | undefined
  /** The request of node:http, where it is read without a Request. */
  readonly incoming?: Incoming | undefined
}

/** A request that was let in, with all that the contract names in it parsed. */
export interface Call<Row extends OperationRow> {
  readonly requestId: string
  /** Epoch milliseconds at which the request came in. */
  readonly now: number
  readonly params: Params<Row['path']>
  readonly query: OutputOf<Column<Row, 'query'>>
  /** Those that the row names. */
  readonly headers: { readonly [Name in keyof Column<Row, 'headers'>]: string | undefined }
  /** The bytes where the row says `raw`. */
  readonly body: Column<Row, 'body'> extends { readonly raw: true }
    ? Uint8Array
    : OutputOf<Column<Column<Row, 'body'>, 'schema'>>
  /** null only where the operation is public. */
  readonly caller: Row['access'] extends 'public' ? null : Caller
  /** null where the runtime does not tell. */
  readonly clientAddress: Address | null
  /** Whether the cap of the caller's plan is used up. */
  readonly degraded: boolean
}

/** An answer of the contract: a status of the row with the body that belongs to it. */
export type Reply<Row extends OperationRow> =
  | {
      [Status in keyof Row['replies']]: {
        readonly status: Status
        readonly body: OutputOf<Column<Row['replies'][Status], 'schema'>>
      }
    }[keyof Row['replies']]
  /** With the JSON of the body instead, where that is made from prepared parts. */
  | { readonly status: keyof Row['replies']; readonly json: string }

export type Handler<Row extends OperationRow> = (
  call: Call<Row>,
) => Reply<Row> | Promise<Reply<Row>>

/** One handler for each operation: a missing one does not compile. Beacons go their own way. */
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
