import { run } from '../parts/run.ts'
import { locateLines } from './parts/lines.ts'
import { locateList } from './parts/list.ts'
import { openSource } from './parts/open-source.ts'
import { readTask } from './parts/options.ts'

await run(async () => {
  const task = readTask()
  using source = await openSource(task.server, task.answerOptions)
  if (task.list === undefined) await locateLines(source, task)
  else await locateList(source, task, task.list)
})
