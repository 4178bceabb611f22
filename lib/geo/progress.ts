import type { OnProgress } from './files/prepare.ts'

const BAR_WIDTH = 30
const PERCENT_PER_LINE = 25

/** Shows progress: a moving bar per step on a terminal, otherwise a line per quarter of a step. */
export function createProgress(output: NodeJS.WriteStream): OnProgress {
  const isMoving = output.isTTY === true
  let shown = ''
  return (step, share) => {
    const percent = Math.floor(Math.min(1, share) * 100)
    const line = isMoving
      ? `\r${step.padEnd(26)} ${bar(share)} ${percent} %${share >= 1 ? '\n' : ''}`
      : `${step}: ${percent - (percent % PERCENT_PER_LINE)} %\n`
    if (line === shown) return
    shown = line
    output.write(line)
  }
}

function bar(share: number): string {
  const filled = Math.round(Math.min(1, share) * BAR_WIDTH)
  return '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled)
}
