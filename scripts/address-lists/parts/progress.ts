const INTERVAL_MS = 1_000
const CLEAR_LINE = '\r\u001b[K'

/** On a terminal, shows every second how many `things`, such as rows, are done. */
export function showProgress(things: string) {
  const { stderr } = process
  const start = stderr.isTTY ? CLEAR_LINE : ''
  const startedAt = performance.now()
  let done = 0
  const show = (end: string) => {
    const perSecond = Math.round(done / ((performance.now() - startedAt) / 1_000))
    stderr.write(`${start}${done} ${things}, ${perSecond} per second${end}`)
  }
  const timer = stderr.isTTY ? setInterval(show, INTERVAL_MS, '') : undefined
  return {
    add: (count: number) => {
      done += count
    },
    /** Writes a last line, to any output. */
    finish: () => show('\n'),
    [Symbol.dispose]: () => {
      clearInterval(timer)
      stderr.write(start)
    },
  }
}
