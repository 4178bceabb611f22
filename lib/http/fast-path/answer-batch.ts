import type { Duplex } from 'node:stream'
import { type WholeAnswer, writeAnswer } from '../write-answer.ts'

/** Sends all answers of one turn of the event loop at its end. */
export class AnswerBatch {
  readonly #connection: string
  #sockets: Duplex[] = []

  constructor(connection: string) {
    this.#connection = connection
  }

  write(socket: Duplex, answer: WholeAnswer): void {
    if (this.#sockets.length === 0) setImmediate(() => this.send())
    this.#sockets.push(socket)
    socket.cork()
    writeAnswer(socket, answer, this.#connection)
  }

  send(): void {
    const sockets = this.#sockets
    this.#sockets = []
    for (const socket of sockets) socket.uncork()
  }
}
