import { jsonText } from '../parts/json-text.ts'
import { run } from '../parts/run.ts'
import { type Measurement, measure } from './measurement.ts'
import { readTask, type Task } from './options.ts'
import { writeAccuracyPage } from './page.tsx'
import { reportText } from './report-text.ts'
import { sharesText } from './shares-text.ts'

await run(async () => {
  const task = readTask()
  const measurement = await measure(task)
  if (task.html !== undefined) await writeAccuracyPage(task.html, measurement)
  process.stdout.write(textOf(task, measurement))
})

function textOf({ json, table }: Task, measurement: Measurement): string {
  if (table) return sharesText(measurement)
  return json ? jsonText(measurement) : reportText(measurement)
}
