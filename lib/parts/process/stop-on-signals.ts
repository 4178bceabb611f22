import { constants } from 'node:os'

/** SIGHUP comes when the terminal is closed. */
export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** A signal to a whole process group arrives twice if the parent forwards its own copy. */
const SAME_SIGNAL_MS = 1_000

export interface Steps {
  /** Called with the first signal, `drainMs` milliseconds before `stop`. */
  readonly drain: (signal: string) => void
  readonly drainMs: number
  readonly stop: () => Promise<void>
}

/**
 * Makes process 1, such as that of a container, end at signals until `stopOnSignals` is called. The
 * kernel ends other processes by itself, but to process 1 it delivers only signals with a handler.
 */
export function exitOnSignals(): void {
  if (process.pid !== 1) return
  for (const signal of SIGNALS) process.on(signal, exit)
}

function exit(signal: NodeJS.Signals): void {
  process.exit(128 + constants.signals[signal])
}

/**
 * Drains and stops at the first signal. The next one ends the drain. One that arrives during the
 * stop ends the process at once.
 */
export function stopOnSignals({ drain, drainMs, stop }: Steps): void {
  let lastAt = Number.NEGATIVE_INFINITY
  let draining: NodeJS.Timeout | undefined
  let isStopping = false
  const endDrain = () => {
    clearTimeout(draining)
    isStopping = true
    return stop()
  }
  const onSignal = async (signal: NodeJS.Signals) => {
    const now = performance.now()
    if (now - lastAt <= SAME_SIGNAL_MS) return
    lastAt = now
    if (isStopping) process.exit(1)
    if (draining !== undefined) return endDrain()
    drain(signal)
    draining = setTimeout(endDrain, drainMs)
  }
  for (const signal of SIGNALS) process.on(signal, onSignal).off(signal, exit)
}
