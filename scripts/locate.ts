import { locateLines } from './locate/lines.ts'
import { locateList } from './locate/list.ts'
import { openSource } from './locate/open-source.ts'
import { readTask } from './locate/options.ts'
import { run } from './parts/run.ts'

await run(async () => {
  const task = readTask()
  using source = await openSource(task.server, task.answerOptions)
  if (task.list === undefined) await locateLines(source, task)
  else await locateList(source, task, task.list)
})
