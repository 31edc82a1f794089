import { expect, it } from 'vitest'
import type { ConfigFault } from './faults.ts'
import { renderFaults } from './render-faults.ts'

const fault = (changes: Partial<ConfigFault> = {}): ConfigFault => ({
  severity: 'error',
  code: 'unknown-key',
  file: '/etc/trunkline.yaml',
  line: 12,
  column: 3,
  length: 5,
  path: 'drian',
  message: 'is not a known key',
  hint: 'did you mean `drain`?',
  source: '  drian: 5s',
  ...changes,
})

it('shows the place, the line with the text underlined, and the hint', () => {
  expect(renderFaults([fault()], { colour: false, nameOf: () => 'trunkline.yaml' })).toBe(
    [
      'error[unknown-key]: drian: is not a known key',
      '  --> trunkline.yaml:12:3',
      '   |',
      '12 |   drian: 5s',
      '   |   ^^^^^',
      '   = hint: did you mean `drain`?',
      '',
    ].join('\n'),
  )
})

it('has colours only if they are wanted', () => {
  const esc = '\u001b'
  expect(renderFaults([fault()], { colour: true })).toContain(`${esc}[31;1m  ^^^^^${esc}[0m`)
  expect(renderFaults([fault({ severity: 'warning' })], { colour: true })).toContain(`${esc}[33;1m  ^^^^^`)
  expect(renderFaults([fault()], { colour: false })).not.toContain(esc)
})

it('shows no excerpt of a line that cannot be shown, and no hint without one', () => {
  expect(renderFaults([fault({ source: undefined, hint: undefined })], { colour: false })).toBe(
    'error[unknown-key]: drian: is not a known key\n  --> /etc/trunkline.yaml:12:3\n',
  )
})

it('cuts a long line around the fault', () => {
  const source = `${'a'.repeat(300)}WRONG${'b'.repeat(300)}`
  const lines = renderFaults([fault({ source, column: 301 })], { colour: false }).split('\n')
  expect(lines[3]).toMatch(/^12 \| …a+WRONGb+…$/)
  expect(lines[4]?.indexOf('^')).toBe(lines[3]?.indexOf('WRONG'))
  expect(lines[3]?.length).toBeLessThan(120)
})

it('replaces control characters, so that the file cannot control the terminal', () => {
  const text = renderFaults([fault({ source: '\t\u001b[2Jx\u0007' })], { colour: false })
  expect(text).toContain('12 | →?[2Jx?')
})
