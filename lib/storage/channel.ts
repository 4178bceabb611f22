/** Methods that other threads can call: arguments and results are copied, but bytes are moved. */
export type Methods<M> = Readonly<Record<keyof M, (...args: never[]) => Promise<unknown>>>

interface Call {
  readonly id: number
  readonly method: string
  readonly args: readonly unknown[]
}

type Reply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: unknown }
  | { readonly report: unknown; readonly message: string }

/** One end of a connection between two threads: a Worker, or its `parentPort`. */
export interface Port {
  postMessage(message: unknown, moved?: readonly ArrayBuffer[]): void
  on(event: 'message', listener: (message: unknown) => void): unknown
}

/** Both directions share a port. */
interface Message {
  readonly calls?: Call[]
  readonly replies?: Reply[]
}

export type ReportError = (error: unknown, message: string) => void

/**
 * Answers the calls that arrive at the port. `open` makes the methods; it gets a function that reports
 * errors that belong to no call.
 */
export function serve<M extends Methods<M>>(port: Port, open: (report: ReportError) => M): void {
  const send = createOutbox<Reply>((replies) =>
    port.postMessage({ replies }, replies.flatMap(bytesOf)),
  )
  const methods = open((error, message) => send({ report: toPlain(error), message }))
  const answer = async ({ id, method, args }: Call) => {
    try {
      // safe: the other end calls only these methods, with their arguments
      const result = await methods[method as keyof M](...(args as never[]))
      send({ id, result })
    } catch (error) {
      send({ id, error: toPlain(error) })
    }
  }
  // safe: the other end sends messages
  port.on('message', (message) => {
    for (const call of (message as Message).calls ?? []) void answer(call)
  })
}

/** The memory to move if the result is bytes. Copying megabytes would delay the other thread. */
function bytesOf(reply: Reply): ArrayBuffer[] {
  const bytes = 'result' in reply && reply.result instanceof Uint8Array ? reply.result.buffer : null
  return bytes instanceof ArrayBuffer ? [bytes] : []
}

/** Collects items, and sends those of one turn of the event loop in one message. */
function createOutbox<Item>(send: (items: Item[]) => void): (item: Item) => void {
  let items: Item[] = []
  const sendAll = () => {
    send(items)
    items = []
  }
  return (item) => {
    if (items.push(item) === 1) setImmediate(sendAll)
  }
}

/** Calls methods at the other end of a port. */
export interface Caller<M extends Methods<M>> {
  readonly call: <Name extends keyof M & string>(
    method: Name,
    ...args: Parameters<M[Name]>
  ) => ReturnType<M[Name]>
  /** Rejects the calls that are not answered yet, and all further ones. */
  readonly end: () => void
}

/** Connects to what `serve` offers. `onReport` gets the errors that belong to no call. */
export function connect<M extends Methods<M>>(port: Port, onReport: ReportError): Caller<M> {
  const send = createOutbox<Call>((calls) => port.postMessage({ calls }))
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let isEnded = false
  let lastId = 0
  // safe: the other end sends messages
  port.on('message', (message) => {
    for (const reply of (message as Message).replies ?? []) {
      if ('report' in reply) {
        onReport(fromPlain(reply.report), reply.message)
        continue
      }
      const call = waiting.get(reply.id)
      waiting.delete(reply.id)
      if ('error' in reply) call?.reject(fromPlain(reply.error))
      else call?.resolve(reply.result)
    }
  })
  return {
    call: <Name extends keyof M & string>(method: Name, ...args: Parameters<M[Name]>) => {
      const call = Promise.withResolvers<unknown>()
      lastId += 1
      if (isEnded) call.reject(endedError())
      else {
        waiting.set(lastId, call)
        send({ id: lastId, method, args })
      }
      // safe: the other end runs the method of this name
      return call.promise as ReturnType<M[Name]>
    },
    end: () => {
      isEnded = true
      for (const { reject } of waiting.values()) reject(endedError())
      waiting.clear()
    },
  }
}

function endedError(): Error {
  return new Error('the thread has ended')
}

/** An error in a form that can be copied. A copy of the error itself would lose its code. */
interface PlainError {
  readonly isError: true
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
  readonly code?: unknown
  readonly cause?: unknown
}

/** Returns what can be copied to another thread in place of the error. */
export function toPlain(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack, cause } = error
  return {
    isError: true,
    name,
    message,
    stack,
    ...('code' in error && { code: error.code }),
    ...(cause !== undefined && { cause: toPlain(cause) }),
  } satisfies PlainError
}

/** Returns the error that `toPlain` was given. */
export function fromPlain(error: unknown): unknown {
  if (!isPlainError(error)) return error
  const { isError: _, message, cause, ...fields } = error
  return Object.assign(
    new Error(message, cause === undefined ? {} : { cause: fromPlain(cause) }),
    fields,
  )
}

function isPlainError(error: unknown): error is PlainError {
  return typeof error === 'object' && error !== null && 'isError' in error
}
