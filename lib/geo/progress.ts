import type { OnProgress } from './prepare.ts'

/** The part of a stream that progress is shown on. */
export interface Terminal {
  readonly isTTY?: boolean
  write(text: string): unknown
}

const BAR_WIDTH = 30
const LINE_EVERY_SHARE = 0.25

/** Shows progress: one moving bar per step on a terminal, a few plain lines anywhere else. */
export function createProgress(terminal: Terminal): OnProgress {
  return terminal.isTTY === true ? moveBar(terminal) : writeLines(terminal)
}

function moveBar(terminal: Terminal): OnProgress {
  let shown = ''
  return (step, share) => {
    const filled = Math.round(share * BAR_WIDTH)
    const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`
    const line = `${step.padEnd(26)} ${bar} ${percent(share)}`
    if (line === shown) return
    shown = line
    terminal.write(`\r${line}${share >= 1 ? '\n' : ''}`)
  }
}

function writeLines(terminal: Terminal): OnProgress {
  let last = { step: '', share: 0 }
  return (step, share) => {
    const started = step !== last.step
    const finished = share >= 1 && last.share < 1
    if (!started && !finished && share - last.share < LINE_EVERY_SHARE) return
    last = { step, share }
    terminal.write(`${step}: ${percent(share)}\n`)
  }
}

function percent(share: number): string {
  return `${Math.floor(Math.min(1, share) * 100)} %`
}
