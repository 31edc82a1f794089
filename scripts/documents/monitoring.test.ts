import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { catalogue } from '../../gateway/core/errors/catalogue.ts'
import { declaredMetrics, Metrics } from '../../gateway/core/metrics.ts'
import { registrationStates } from '../../gateway/sip/trunks/outbound-registration.ts'

const folder = join(import.meta.dirname, '..', '..', 'docs', 'monitoring')
const read = (name: string): string => readFileSync(join(folder, name), 'utf8')

interface Alert {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly action: string }
}

interface Panel {
  readonly type: string
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
}

const alerts = (
  parse(read('alerts.yaml')) as { groups: readonly { rules: readonly Alert[] }[] }
).groups.flatMap(({ rules }) => rules)
const { panels } = JSON.parse(read('grafana-dashboard.json')) as { readonly panels: readonly Panel[] }
const expressions = [
  ...alerts.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
]

const registry = new Metrics().registry.getMetricsAsArray()
/** Names that a scrape returns: of a histogram, those of its series. */
const scraped = new Set([
  ...declaredMetrics.map((name) => `trunkline_${name}`),
  ...registry.flatMap(({ name, type }) =>
    String(type) === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  ),
])

describe.each(expressions)('the expression of %s', (_title, expr) => {
  it('names metrics of the gateway only', () => {
    const names = expr.match(/\btrunkline_\w+/g) ?? expr.match(/\bup\b/g) ?? []
    expect(names.filter((name) => !scraped.has(name) && name !== 'up')).toEqual([])
    expect(names).not.toEqual([])
  })

  it('has balanced brackets', () => {
    const pairs: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }
    const open: string[] = []
    for (const character of expr.replaceAll(/"[^"]*"/g, '')) {
      if ('([{'.includes(character)) open.push(character)
      if (character in pairs) expect(open.pop()).toBe(pairs[character])
    }
    expect(open).toEqual([])
  })
})

it('alerts have distinct names, a severity, a summary and an action', () => {
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length)
  for (const { labels, annotations } of alerts) {
    expect(['info', 'warning', 'critical']).toContain(labels.severity)
    expect(annotations.summary).toMatch(/\w/)
    expect(annotations.action).toMatch(/\.$/)
  }
})

it('labels in the alerts have values that the gateway uses', () => {
  const values = (label: string) =>
    alerts.flatMap(({ expr }) =>
      [...expr.matchAll(new RegExp(`${label}=~"([^"]*)"`, 'g'))].flatMap(([, all = '']) => all.split('|')),
    )
  expect(values('cause').filter((code) => !(code in catalogue))).toEqual([])
  expect(values('cause')).not.toEqual([])
  expect(values('state').filter((state) => !registrationStates.includes(state as never))).toEqual([])
  expect(values('state')).not.toEqual([])
})

it('docs/operations.md lists every alert', () => {
  const page = readFileSync(join(folder, '..', 'operations.md'), 'utf8')
  expect(alerts.map(({ alert }) => alert).filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})

it('panels have titles of their own, and do not overlap', () => {
  expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length)
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
  )
  expect(new Set(cells).size).toBe(cells.length)
})
