import { readConfig } from '../lib/config.ts'
import { createProgress } from '../lib/geo/progress.ts'
import { readDemoOptions } from './demo-rum/options.ts'
import { sendDemo } from './demo-rum/send-demo.ts'
import { report, run } from './run.ts'
import { isoSecond } from './times.ts'

await run(async () => {
  const options = readDemoOptions(process.argv.slice(2))
  const { views, from } = await sendDemo({
    config: readConfig(process.env),
    options,
    now: Date.now(),
    onProgress: createProgress(process.stderr),
  })
  const { site, email } = options
  report(`Added ${views} page views of ${site} since ${isoSecond(from)}. To see them:
  npm start
  npm run --silent key -- --email ${email} --name demo
  curl -H "X-API-Key: $KEY" "$URL/v1/telemetry/rum/overview?domain=${new URL(site).host}"`)
})
