import type { Socket } from 'node:net'
import type { WholeAnswer } from './write-answer.ts'

/** The head of a request. Header names are in lower case, and none was given twice. */
export interface RequestHead {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** A request that has been read to its end. */
export interface WholeRequest extends RequestHead {
  readonly method: 'GET' | 'HEAD' | 'POST'
  /** null: the method is GET or HEAD. */
  readonly body: Uint8Array | null
  readonly socket: Pick<Socket, 'remoteAddress'>
}

/** How to answer requests that the server has read whole. The listener of the server answers all others. */
export interface AnswerWhole {
  /** Returns null to leave the request to the listener. */
  readonly answer: (request: WholeRequest) => WholeAnswer | Promise<WholeAnswer> | null
  /** Whether `answer` may answer a POST request to this URL; by default always. */
  readonly takesPost?: (url: string) => boolean
  /**
   * Called if `answer` throws or rejects, which is a bug. If it threw, the listener answers the request. If it
   * rejected, the connection is closed, because a part may be done already.
   */
  readonly onError: (error: unknown) => void
}
