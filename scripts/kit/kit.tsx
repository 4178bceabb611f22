import type { Child } from 'hono/jsx'
import { Card } from '../../pages/dashboard/parts/card.tsx'
import { Chips, ChoiceLinks } from '../../pages/dashboard/parts/choice-links.tsx'
import { Copyable } from '../../pages/dashboard/parts/copyable.tsx'
import { Empty } from '../../pages/dashboard/parts/empty.tsx'
import { Choice, Field, Option, Select } from '../../pages/dashboard/parts/field.tsx'
import { Fold } from '../../pages/dashboard/parts/fold.tsx'
import { Confirm, Form, PostButton } from '../../pages/dashboard/parts/form.tsx'
import { Block, Group } from '../../pages/dashboard/parts/group.tsx'
import { Menu } from '../../pages/dashboard/parts/menu.tsx'
import { MetricCard, Scale } from '../../pages/dashboard/parts/metric-card.tsx'
import { Notice } from '../../pages/dashboard/parts/notice.tsx'
import { PageLink, PageLinks } from '../../pages/dashboard/parts/page-links.tsx'
import { Rated } from '../../pages/dashboard/parts/rated.tsx'
import { ShareTable } from '../../pages/dashboard/parts/share-table.tsx'
import { Time } from '../../pages/dashboard/parts/time.tsx'
import { UsageChart } from '../../pages/dashboard/usage/usage-chart.tsx'
import { FactList } from '../../pages/fact-list.tsx'
import { Icon, type IconName } from '../../pages/icon.tsx'
import { ICONS } from '../../pages/icons.ts'
import { numbers, Table } from '../../pages/table.tsx'

const PATH = '/app/kit'
const AT = '2026-01-15T12:00:00.000Z'

/** Every part of the pages for signed-in users, in each of its looks. */
export function Kit() {
  return (
    <>
      <Notices />
      <Buttons />
      <Fields />
      <Choices />
      <Tables />
      <Figures />
      <Chart />
      <Others />
      <Icons />
      <Empty icon="globe" title="Nothing of this kind">
        <p class="soft">Says why, and what to do next.</p>
        <a class="button" href={PATH}>
          Add one
        </a>
      </Empty>
    </>
  )
}

function Notices() {
  return (
    <>
      <Notice kind="done">It is done.</Notice>
      <Notice kind="hint">Something to know.</Notice>
      <Notice kind="error">It failed, and why.</Notice>
    </>
  )
}

function Buttons() {
  return (
    <Card id="buttons" title="Buttons">
      <div class="actions">
        <PostButton action={PATH} text="Main action" />
        <PostButton action={PATH} text="Other action" kind="quiet" />
        <PostButton action={PATH} text="Dangerous action" kind="danger" />
        <Confirm summary="Delete…" action={PATH} text="Delete permanently">
          <p>What cannot be undone.</p>
        </Confirm>
        <Menu label="Actions for an example" items={[<a href={PATH}>Usage</a>]} />
      </div>
    </Card>
  )
}

function Fields() {
  const problem = { field: 'wrong', text: 'Must be an e-mail address' }
  return (
    <Card id="fields" title="Fields">
      <Form action={PATH} text="Save">
        <Field name="text" label="Text" hint="What it is for." />
        <Field name="wrong" label="Refused" type="email" problem={problem} />
        <Select name="select" label="Select">
          <Option value="one" text="One" chosen="one" />
        </Select>
        <Choice type="checkbox" name="check" value="yes" checked>
          A box
        </Choice>
        <Choice type="radio" name="radio" value="yes" checked>
          One of several
        </Choice>
      </Form>
    </Card>
  )
}

function Choices() {
  const links = ['First', 'Second'].map((text, at) => ({ text, href: PATH, isChosen: at === 0 }))
  return (
    <Card id="choices" title="Choices">
      <ChoiceLinks label="A part" look="tabs" links={links} />
      <ChoiceLinks label="All" look="switch" links={links} />
      <Chips chips={[{ name: 'Page', value: '/checkout', href: PATH }]} />
      <PageLinks>
        <PageLink path={PATH} query={{ page: '2' }} text="Next page" />
      </PageLinks>
    </Card>
  )
}

function Tables() {
  const row: Child[] = [<a href={PATH}>Example</a>, <Badges />, <Time at={AT} />, '1,250', '3.2 %']
  return (
    <Card id="tables" title="Tables">
      <section class="wide stacked" tabindex={0} aria-label="Table of examples">
        <Table
          isStacked
          heads={['Name', 'State', 'Since', ...numbers('Requests', 'Errors')]}
          rows={[row, row]}
        />
      </section>
      <ShareTable
        label="shares"
        heads={['Page', ...numbers('Views', 'LCP')]}
        rows={[
          { name: '/checkout', share: 0.75, cells: ['300', <Rated text="4.1 s" rating="poor" />] },
          {
            name: '/',
            href: PATH,
            share: 0.25,
            cells: ['100', <Rated text="2 s" rating="good" />],
          },
        ]}
      />
      <FactList
        facts={[
          ['Network', 'AS64500'],
          ['Time', 'UTC'],
        ]}
      />
    </Card>
  )
}

function Badges() {
  return (
    <span class="badges">
      <span class="badge good">Active</span>
      <span class="badge near">Waiting</span>
      <span class="badge error">Failed</span>
      <span class="badge">Secret</span>
    </span>
  )
}

function Figures() {
  const scale = <Scale value={260} bounds={[200, 500]} toText={(ms) => `${ms} ms`} />
  return (
    <div class="tiles">
      <Card id="figure" title="A figure">
        <p class="figure">39,954</p>
        <p class="soft">of 100,000</p>
      </Card>
      <MetricCard
        id="inp"
        title="INP"
        about="Page answers"
        text="260 ms"
        rating="needs-improvement"
      >
        {scale}
      </MetricCard>
    </div>
  )
}

function Chart() {
  const parts = [
    { name: 'Answered', color: '--data' },
    { name: 'Over a limit', color: '--near' },
  ] as const
  const days = [12, 15, 9].map((n, at) => ({ date: `2026-01-1${at + 3}`, requests: [n, at] }))
  return (
    <Card id="chart" title="Chart">
      <UsageChart daily={{ parts, days }} />
    </Card>
  )
}

function Others() {
  return (
    <>
      <Card id="copyable" title="To copy">
        <Copyable id="text" text="curl https://geo.example/v1/ip/81.2.69.160" />
      </Card>
      <Group id="group" title="Danger zone" help="What cannot be undone" kind="danger">
        <Block id="block" title="A block">
          <p>Settings of one subject.</p>
        </Block>
      </Group>
      <Fold id="fold" title="Folded" glance="What it contains">
        <p>Only its heading is shown until it is opened.</p>
      </Fold>
    </>
  )
}

function Icons() {
  // safe: these are the keys of ICONS
  const names = Object.keys(ICONS) as IconName[]
  return (
    <Card id="icons" title="Icons">
      <ul class="actions">
        {names.map((name) => (
          <li>
            <Icon name={name} /> <code>{name}</code>
          </li>
        ))}
      </ul>
    </Card>
  )
}
