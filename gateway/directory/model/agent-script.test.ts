import { expect, it } from 'vitest'
import { checkDocument } from '../../../handlers/reading/check-document.ts'
import { agentScript, defaultSilence, maxAgentBytes } from './agent-script.ts'

const check = (settings: Readonly<Record<string, unknown>>) =>
  checkDocument('script', agentScript(settings, defaultSilence))

it('is a script that runs', () => {
  expect(check({ prompt: { text: 'Hi' } })).toEqual({ errors: [], warnings: [] })
})

it('has the permitted size with the largest settings', () => {
  const empty = JSON.stringify({ prompt: { text: '' } }).length
  const settings = { prompt: { text: 'x'.repeat(maxAgentBytes - empty) } }
  expect(JSON.stringify(settings)).toHaveLength(maxAgentBytes)
  expect(check(settings).errors).toEqual([])
})
