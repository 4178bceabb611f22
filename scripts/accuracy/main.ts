import { jsonText } from '../parts/json-text.ts'
import { run } from '../parts/run.ts'
import { measure } from './measurement.ts'
import { readTask } from './options.ts'
import { writeAccuracyPage } from './page.tsx'
import { reportText } from './report-text.ts'

await run(async () => {
  const task = readTask()
  const measurement = await measure(task)
  if (task.html !== undefined) await writeAccuracyPage(task.html, measurement)
  process.stdout.write(task.json ? jsonText(measurement) : reportText(measurement))
})
