import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WholeAnswer, writeAnswer } from './write-answer.ts'

/** A request that could not be read, and why: the code of node:http. */
interface Unreadable {
  readonly code: string
  readonly remoteAddress: string | undefined
}

export type AnswerUnreadable = (unreadable: Unreadable) => WholeAnswer

/** How node:http names what its parser refuses, and what came too slowly. */
const REFUSED = /^(HPE_|ERR_HTTP_REQUEST_TIMEOUT$)/

/**
 * Returns a listener for `clientError` that answers what node:http could not read, and closes the
 * connection. Who has sent nothing, or is gone, gets no answer.
 */
export function createClientErrorListener(answer: AnswerUnreadable) {
  return (error: NodeJS.ErrnoException, socket: Duplex): void => {
    const { code = '' } = error
    if (socket instanceof Socket && isWaiting(socket) && REFUSED.test(code)) {
      writeAnswer(socket, answer({ code, remoteAddress: socket.remoteAddress }), 'close')
      socket.destroySoon()
    } else {
      socket.destroy()
    }
  }
}

/** Whether the client has asked for anything, and may still read. */
function isWaiting({ writable, bytesRead }: Socket): boolean {
  return writable && bytesRead > 0
}
