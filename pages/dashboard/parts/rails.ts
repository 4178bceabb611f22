import type { Rail } from './frame.tsx'

const USER_GROUPS: Rail['groups'] = [
  { pages: [{ path: '/app', text: 'Overview', icon: 'layout-dashboard' }] },
  {
    title: 'API',
    pages: [
      { path: '/app/keys', text: 'Keys', icon: 'key-round' },
      { path: '/app/usage', text: 'Usage', icon: 'chart-column' },
      { path: '/app/look-up', text: 'Look up', icon: 'map-pin' },
      { path: '/app/batch', text: 'Batch look-up', icon: 'list-checks' },
    ],
  },
  {
    title: 'Web',
    pages: [
      { path: '/app/sites', text: 'Sites', icon: 'globe' },
      { path: '/app/vitals', text: 'Web vitals', icon: 'gauge' },
    ],
  },
  {
    title: 'Account',
    pages: [
      { path: '/app/billing', text: 'Billing', icon: 'credit-card' },
      { path: '/app/audit', text: 'Audit log', icon: 'scroll-text' },
      { path: '/app/account', text: 'Settings', icon: 'circle-user-round' },
    ],
  },
]

const DASHBOARD = { path: '/app', text: 'Dashboard' } as const
const OPERATE = { path: '/app/operate', text: 'Operate' } as const

/** Of the dashboard. */
export const USER_RAIL: Rail = { label: 'Dashboard', groups: USER_GROUPS, areas: [] }

/** Of the dashboard, for operators. */
export const OPERATOR_RAIL: Rail = {
  label: 'Dashboard',
  groups: USER_GROUPS,
  areas: [
    { ...DASHBOARD, isChosen: true },
    { ...OPERATE, isChosen: false },
  ],
}

/** Of the pages for operators. */
export const OPERATE_RAIL: Rail = {
  label: 'Operate',
  groups: [
    { pages: [{ path: '/app/operate', text: 'Overview', icon: 'layout-dashboard' }] },
    {
      title: 'Customers',
      pages: [
        { path: '/app/operate/people', text: 'People', icon: 'users' },
        { path: '/app/operate/sites', text: 'Sites', icon: 'globe' },
        { path: '/app/operate/billing', text: 'Billing', icon: 'credit-card' },
        { path: '/app/operate/inquiries', text: 'Inquiries', icon: 'inbox' },
      ],
    },
    {
      title: 'Activity',
      pages: [
        { path: '/app/operate/usage', text: 'Usage', icon: 'chart-column' },
        { path: '/app/operate/notices', text: 'Deliveries', icon: 'send' },
        { path: '/app/operate/audit', text: 'Audit log', icon: 'scroll-text' },
      ],
    },
    {
      title: 'Server',
      pages: [
        { path: '/app/operate/databases', text: 'Databases', icon: 'database' },
        { path: '/app/operate/system', text: 'System', icon: 'server' },
      ],
    },
  ],
  areas: [
    { ...DASHBOARD, isChosen: false },
    { ...OPERATE, isChosen: true },
  ],
}
