import { expect, it } from 'vitest'
import { AgentSettings } from './agent-settings.ts'
import { conversationOptions } from './testing/conversation-rig.ts'

it('adds settings of the model to those before', () => {
  const settings = new AgentSettings({
    ...conversationOptions(),
    modelSettings: { temperature: 0.5, topP: 1 },
  })
  const first = settings.change({ modelSettings: { temperature: 0.2 } })
  expect(first).toEqual({ settings: { temperature: 0.2, topP: 1 } })
  const second = settings.change({ modelSettings: { maxTokens: 50 } })
  expect(second).toEqual({ settings: { temperature: 0.2, topP: 1, maxTokens: 50 } })
  expect(settings.request('p', []).settings).toEqual({ temperature: 0.2, topP: 1, maxTokens: 50 })
  expect(settings.change({ prompt: 'New.' })).toEqual({ prompt: 'New.' })
})
