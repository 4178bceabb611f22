import { readDemoOptions } from './demo-rum/options.ts'
import { sendDemo } from './demo-rum/send-demo.ts'
import { report, run } from './parts/run.ts'
import { isoSecond } from './parts/times.ts'

await run(async () => {
  const options = readDemoOptions(process.argv.slice(2))
  const { views, from } = await sendDemo(options, Date.now())
  const { site, email } = options
  report(`Added ${views} page views of ${site} since ${isoSecond(from)}. To see them, start the server, sign in
as ${email} and open /app/vitals. Whoever has no password yet gets a link to set one:
  npm run user -- --email ${email} --link`)
})
