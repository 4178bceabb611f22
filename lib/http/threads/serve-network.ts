import { createServer, type Socket } from 'node:net'
import type { MessagePort } from 'node:worker_threads'
import { createOutbox } from '../../process/outbox.ts'
import { reasonOf } from '../../reason.ts'
import { AnswerBatch } from '../fast-path/answer-batch.ts'
import { type FastPathOptions, tryAnswer } from '../fast-path/fast-path.ts'
import type { PlainRequest } from '../fast-path/plain-request.ts'
import { keepAliveText, LIMITS } from '../http-limits.ts'
import { type ListenAddress, listen } from '../listen.ts'
import type { WholeAnswer } from '../write-answer.ts'
import { ClientConnection } from './client-connection.ts'
import type { Command, ConnectionEvent, FromThread, ToThread } from './messages.ts'

export interface NetworkOptions extends FastPathOptions<WholeAnswer> {
  /** Gets what `reply` of `NetworkThreadsOptions.onNews` sends. */
  readonly onReply: (reply: unknown) => void
  /** Sends the last news. Called once, at the end. */
  readonly finish: () => void
}

/**
 * Accepts connections in a network thread, and answers plain requests there. The thread at the other end of
 * `port` has the server, which answers all others: see `startNetworkThreads`.
 */
export function serveNetwork(port: MessagePort, options: NetworkOptions): void {
  const post = (message: FromThread) => port.postMessage(message)
  const report = createOutbox<ConnectionEvent>((events) => post({ events }))
  const batch = new AnswerBatch(keepAliveText(LIMITS.keepAliveTimeout))
  const answer = (socket: Socket, head: PlainRequest) => {
    const answered = tryAnswer(options, head, socket)
    if (answered !== null) batch.write(socket, answered)
    return answered !== null
  }
  const connections = new Map<number, ClientConnection>()
  let lastId = 0
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => {
    lastId += 1
    const id = lastId
    connections.set(id, new ClientConnection(id, socket, { report, answer }))
    socket.once('close', () => connections.delete(id))
  })
  const stopListening = () => {
    // Calls back only once all connections are closed, but refuses new ones at once.
    server.close()
    // Sent after the report of the last connection that was accepted.
    setImmediate(() => post({ isClosed: true }))
  }
  const finish = () => {
    options.finish()
    post({ isFinished: true })
  }
  const obey = (commands: readonly Command[]) => {
    // A command may destroy a connection, which would lose an answer that is still waiting.
    batch.send()
    for (const command of commands) connections.get(command.id)?.obey(command)
  }
  port.on('message', (message: ToThread) => {
    if (message.commands !== undefined) obey(message.commands)
    if (message.reply !== undefined) options.onReply(message.reply)
    if (message.listen !== undefined) void startListening(server, message.listen).then(post)
    if (message.stopListening === true) stopListening()
    if (message.finish === true) finish()
  })
}

async function startListening(
  server: ReturnType<typeof createServer>,
  address: ListenAddress,
): Promise<FromThread> {
  try {
    await listen(server, address)
    return { failure: null }
  } catch (error) {
    return { failure: reasonOf(error) }
  }
}
