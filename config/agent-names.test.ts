import { expect, it } from 'vitest'
import { configuredName } from './agent-names.ts'

const names = { 'elevenlabs.*': 'any', 'ElevenLabs.rach*': 'rachel', 'openai.nova': 'nova' }

it.each([
  ['openai.nova', 'nova'],
  ['OpenAI.Nova ', 'nova'],
  ['elevenlabs.rachel', 'rachel'],
  ['elevenlabs.adam', 'any'],
  ['House', 'house'],
  ['azure.x', undefined],
  ['', undefined],
])('the name %j of a document means %s', (wanted, found) => {
  expect(configuredName(wanted, names, ['house'])).toBe(found)
})
