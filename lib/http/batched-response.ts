import { type IncomingMessage, ServerResponse } from 'node:http'

type End = Parameters<ServerResponse['end']>

/**
 * Ends together with all responses of its turn of the event loop: the requests that were read in
 * one turn are answered first and written one after another then. That costs a server under load
 * fewer wake-ups of its peer, and finds code and data of either step in the processor's caches. A
 * server without load waits for nothing.
 */
export class BatchedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  static #ended: BatchedResponse[] = []
  #end: Partial<End> = []

  override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    if (BatchedResponse.#ended.length === 0) setImmediate(BatchedResponse.#endAll)
    // safe: handed on as it came, by a caller that ServerResponse has typed
    this.#end = [chunk, encoding, callback] as Partial<End>
    BatchedResponse.#ended.push(this)
    return this
  }

  static #endAll(): void {
    const ended = BatchedResponse.#ended
    BatchedResponse.#ended = []
    // safe: ServerResponse knows which arguments were left out
    for (const response of ended) response.#endNow(...(response.#end as End))
  }

  #endNow(...end: End): void {
    super.end(...end)
  }
}
