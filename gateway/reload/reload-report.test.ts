import { expect, it } from 'vitest'
import type { ReloadResult } from './config-reload.ts'
import { exitCodeOf, reloadBody, reloadLines } from './reload-report.ts'

const live = { kind: 'live' } as const
const restart = { kind: 'restart', reason: 'the port is bound' } as const
const result: ReloadResult = {
  outcome: 'valid',
  file: '/etc/x.yaml',
  dryRun: true,
  warnings: ['a warning'],
  faults: [],
  applied: [
    { path: 'limits.calls', kind: 'changed', before: '1', after: '2', rule: live },
    { path: 'carriers[acme]', kind: 'added', rule: live },
    { path: 'http.apiToken', kind: 'removed', hidden: 'secret', rule: live },
    { path: 'domains[a].handler.file', kind: 'changed', hidden: 'contents', rule: live },
  ],
  restart: [{ path: 'sip.announce', kind: 'added', after: '"192.0.2.1"', rule: restart }],
}

it('becomes lines with the settings that need a restart, and the reasons', () => {
  expect(reloadLines(reloadBody(result))).toEqual([
    'a warning',
    '~ limits.calls: 1 → 2',
    '+ carriers[acme]',
    '- http.apiToken: (secret)',
    '~ domains[a].handler.file: (contents of the file)',
    '+ sip.announce: "192.0.2.1"  [needs a restart: the port is bound]',
    'Not applied (dry run): 4 changes, 1 key in need of a restart.',
  ])
})

it('becomes an exit code', () => {
  const codeOf = (changes: Partial<ReloadResult>) => exitCodeOf(reloadBody({ ...result, ...changes }))
  const nothing = { applied: [], restart: [] }
  expect(codeOf({})).toBe(3)
  expect(codeOf({ outcome: 'applied', restart: [] })).toBe(0)
  expect(codeOf({ ...nothing, outcome: 'unchanged' })).toBe(0)
  expect(codeOf({ ...nothing, outcome: 'invalid' })).toBe(2)
  expect(codeOf({ ...nothing, outcome: 'failed', error: 'x' })).toBe(1)
})

it('tells the places of faults as `check` does', () => {
  const fault = {
    severity: 'error' as const,
    code: 'wrong-format',
    length: 1,
    file: '/etc/x.yaml',
    line: 3,
    column: 2,
    path: 'drain',
    message: 'is wrong',
  }
  const changes = { outcome: 'invalid', applied: [], restart: [], warnings: [], faults: [fault] } as const
  expect(reloadLines(reloadBody({ ...result, ...changes }))).toEqual([
    '/etc/x.yaml:3:2 drain: is wrong',
    'Not reloaded: the file has faults.',
  ])
})
