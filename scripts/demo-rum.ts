import { readDemoOptions } from './demo-rum/options.ts'
import { sendDemo } from './demo-rum/send-demo.ts'
import { report, run } from './parts/run.ts'
import { isoSecond } from './parts/times.ts'

await run(async () => {
  const options = readDemoOptions(process.argv.slice(2))
  const { views, from } = await sendDemo(options, Date.now())
  const { site, email } = options
  report(`Added ${views} page views of ${site} since ${isoSecond(from)}. To see them:
  npm start
  KEY=$(npm run --silent key -- --email ${email} --name demo)
  curl -H "X-API-Key: $KEY" "http://127.0.0.1:8787/v1/telemetry/rum/overview?domain=${new URL(site).host}"`)
})
