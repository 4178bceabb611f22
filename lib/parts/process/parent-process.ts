import { once } from 'node:events'
import { SIGNALS, type Steps } from './stop-on-signals.ts'

/** The first message to a further process: its number and its ports. */
export interface NodeStart {
  /** The first process is number 1. */
  readonly number: number
  readonly port: number
  /** undefined: the port for operators is off. */
  readonly adminPort: number | undefined
}

/** What the first process sends. */
export type ParentMessage =
  | { readonly start: NodeStart }
  /** The name of the signal that the first process got. */
  | { readonly drain: string }
  | { readonly stop: true }

/** What a further process sends: that it listens, with its address for operators; or why it cannot. */
export type NodeReport = { readonly adminUrl: string | null } | { readonly failure: string }

/** The first process, as a further one sees it. */
export type ParentProcess = Awaited<ReturnType<typeof meetParent>>

const PARENT_ENDED = 'the first process has ended'

/**
 * Waits until the first process says what to do: see `startNodeProcesses`. Ends this process if that one ends.
 * Only the first process reacts to signals, since a terminal sends them to both.
 */
export async function meetParent() {
  const exit = () => process.exit(1)
  for (const signal of SIGNALS) process.on(signal, () => {})
  process.on('disconnect', exit)
  const [{ start }] = await once(process, 'message')
  // The first process drains or stops.
  process.on('message', exit)
  return {
    // safe: only startNodeProcesses sends messages
    start: start as NodeStart,
    /** Reports that this process listens, with its address for operators. */
    reportUrl: (adminUrl: string | null) => report({ adminUrl }),
    /** Reports why this process cannot start, and ends it. */
    fail: (failure: string) => report({ failure }, exit),
    /** From now on, drains and stops when the first process says so, or when it ends. */
    follow: ({ drain, stop }: Pick<Steps, 'drain' | 'stop'>) => {
      let isStopping = false
      const leave = async () => {
        isStopping = true
        await stop()
        process.off('disconnect', leaveAlone)
        // An open channel keeps the process alive.
        if (process.connected) process.disconnect()
      }
      const leaveAlone = () => {
        if (isStopping) exit()
        drain(PARENT_ENDED)
        void leave()
      }
      const obey = (message: ParentMessage) => {
        if ('drain' in message) drain(message.drain)
        if ('stop' in message && !isStopping) void leave()
      }
      process.off('disconnect', exit).on('disconnect', leaveAlone)
      process.off('message', exit).on('message', obey)
    },
  }
}

/** `sent` is called once the first process has the report, or will never get it. */
function report(message: NodeReport, sent = () => {}): void {
  if (process.send === undefined) sent()
  else process.send(message, sent)
}
