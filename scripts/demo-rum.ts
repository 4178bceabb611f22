import { APP_PATH } from '../lib/contract/pages.ts'
import { commandText } from '../lib/parts/clone-or-package.ts'
import { readDemoOptions } from './demo-rum/options.ts'
import { sendDemo } from './demo-rum/send-demo.ts'
import { report, run } from './parts/run.ts'
import { isoSecond } from './parts/times.ts'

await run(async () => {
  const options = readDemoOptions(process.argv.slice(2))
  const { views, from } = await sendDemo(options, Date.now())
  const { site, email } = options
  report(`Added ${views} page views of ${site} since ${isoSecond(from)}. To see them, start the server and open ${APP_PATH}/vitals as ${email}. A link to sign in:
  ${commandText('user', `--email ${email} --link`)}`)
})
