import { describe, expect, it } from 'vitest'
import type { AgentEffect } from './document-types.ts'
import { readReply } from './function-reply.ts'

const effectsOf = (action: unknown): readonly AgentEffect[] => {
  const { effects, warnings } = readReply({ action })
  expect(warnings).toEqual([])
  return effects
}

const document = { version: '1.0.0', sections: { main: ['hangup'] } }
const reset = { consolidate: false, fullReset: false }

describe('an action', () => {
  it.each<[string, unknown, readonly AgentEffect[]]>([
    ['SWML', document, [{ kind: 'script', document, transfer: false }]],
    ['SWML', JSON.stringify(document), [{ kind: 'script', document, transfer: false }]],
    ['SWML', 'sections: {}', [{ kind: 'script', document: 'sections: {}', transfer: false }]],
    ['transfer', 'https://x.example', [{ kind: 'transfer', to: 'https://x.example', summarize: false }]],
    ['transfer', { dest: 'sales', summarize: 'true' }, [{ kind: 'transfer', to: 'sales', summarize: true }]],
    ['say', 'Hello', [{ kind: 'say', text: 'Hello' }]],
    ['stop', true, [{ kind: 'stop' }]],
    ['stop', 'true', [{ kind: 'stop' }]],
    ['stop', false, []],
    ['hangup', 'true', [{ kind: 'hangup' }]],
    ['hold', 60, [{ kind: 'hold', seconds: 60 }]],
    ['hold', '5m', [{ kind: 'hold', seconds: 300 }]],
    ['hold', '1:30', [{ kind: 'hold', seconds: 90 }]],
    ['hold', 901, [{ kind: 'hold', seconds: 300 }]],
    ['hold', -1, [{ kind: 'hold', seconds: 300 }]],
    ['hold', false, []],
    ['hold', 'true', [{ kind: 'hold', seconds: 300 }]],
    [
      'hold',
      { timeout: '120', step: 'wait', timeout_step: 'late' },
      [{ kind: 'hold', seconds: 120, step: 'wait', timeoutStep: 'late' }],
    ],
    ['change_context', 'sales', [{ kind: 'context', name: 'sales' }]],
    ['change_step', 'next', [{ kind: 'step', name: 'next' }]],
    ['context_switch', 'Be rude.', [{ kind: 'switch', reset: { systemPrompt: 'Be rude.', ...reset } }]],
    [
      'context_switch',
      { system_pom: [{ body: 'Be kind.' }], user_prompt: 'Hi', full_reset: 'true' },
      [
        {
          kind: 'switch',
          reset: { systemPrompt: 'Be kind.', userPrompt: 'Hi', consolidate: false, fullReset: true },
        },
      ],
    ],
    [
      'toggle_functions',
      [
        { function: 'a', active: 'false' },
        { function: ['b', 'c'], active: 2 },
      ],
      [
        {
          kind: 'toggle',
          functions: [
            { names: ['a'], active: false },
            { names: ['b', 'c'], active: 2 },
          ],
        },
      ],
    ],
    ['set_global_data', { a: 1 }, [{ kind: 'set-global', data: { a: 1 } }]],
    ['unset_global_data', 'a', [{ kind: 'unset-global', keys: ['a'] }]],
    ['unset_global_data', ['a', 'b'], [{ kind: 'unset-global', keys: ['a', 'b'] }]],
    ['set_meta_data', '{"a":1}', [{ kind: 'set-meta', data: { a: 1 } }]],
    ['unset_meta_data', { a: 1 }, [{ kind: 'unset-meta', keys: ['a'] }]],
    ['playback_bg', 'https://x/a.mp3', [{ kind: 'background', url: 'https://x/a.mp3', wait: false }]],
    [
      'playback_bg',
      { file: 'https://x/a.mp3', wait: 'true' },
      [{ kind: 'background', url: 'https://x/a.mp3', wait: true }],
    ],
    ['stop_playback_bg', true, [{ kind: 'stop-background' }]],
    ['user_input', 'I am here', [{ kind: 'input', text: 'I am here' }]],
    ['wait_for_user', true, [{ kind: 'wait-for-user', answerFirst: false }]],
    ['wait_for_user', 'true', [{ kind: 'wait-for-user', answerFirst: false }]],
    ['wait_for_user', 5, [{ kind: 'wait-for-user', ms: 5000, answerFirst: false }]],
    ['wait_for_user', 1, [{ kind: 'wait-for-user', ms: 1000, answerFirst: false }]],
    ['wait_for_user', '5', [{ kind: 'wait-for-user', ms: 5000, answerFirst: false }]],
    ['wait_for_user', 'answer_first', [{ kind: 'wait-for-user', answerFirst: true }]],
    ['wait_for_user', false, []],
    ['add_dynamic_hints', ['a', { hint: 'b' }], [{ kind: 'add-hints', hints: ['a', 'b'] }]],
    ['clear_dynamic_hints', {}, [{ kind: 'clear-hints' }]],
    ['end_of_speech_timeout', '900', [{ kind: 'turns', settings: { endOfSpeechMs: 900 } }]],
    ['end_of_speech_timeout', 9, [{ kind: 'turns', settings: { endOfSpeechMs: 250 } }]],
    ['speech_event_timeout', 800, [{ kind: 'turns', settings: { speechEventMs: 800 } }]],
    ['extensive_data', 'true', [{ kind: 'extensive-data', isOn: true }]],
    ['replace_in_history', true, [{ kind: 'replace-in-history' }]],
    ['replace_in_history', 'It was done.', [{ kind: 'replace-in-history', text: 'It was done.' }]],
    ['back_to_back_functions', 'forever', [{ kind: 'back-to-back', mode: 'forever' }]],
    ['back_to_back_functions', 'true', [{ kind: 'back-to-back', mode: true }]],
    ['user_event', { type: 'x' }, [{ kind: 'user-event', event: { type: 'x' } }]],
    [
      'settings',
      {
        temperature: '0.2',
        'max-tokens': 100,
        'top-p': 0.5,
        'frequency-penalty': 1,
        'barge-confidence': 0.4,
      },
      [
        { kind: 'settings', settings: { temperature: 0.2, topP: 0.5, frequencyPenalty: 1, maxTokens: 100 } },
        { kind: 'turns', settings: { bargeConfidence: 0.4 } },
      ],
    ],
  ])('%s with %j becomes its effect', (name, value, expected) => {
    expect(effectsOf({ [name]: value })).toEqual(expected)
    expect(effectsOf([{ [name]: value }])).toEqual(expected)
  })

  it('runs a script that leaves the agent if transfer stands beside it', () => {
    const expected = [{ kind: 'script', document, transfer: true }]
    expect(effectsOf([{ SWML: document, transfer: 'true' }])).toEqual(expected)
    expect(effectsOf({ transfer: true, SWML: document })).toEqual(expected)
  })

  it('keeps its place among the others', () => {
    const action = [{ say: 'a', set_global_data: { x: 1 } }, { stop: true }, { say: 'b' }]
    expect(effectsOf(action).map(({ kind }) => kind)).toEqual(['say', 'set-global', 'stop', 'say'])
  })

  it.each([
    [{ dance: 1 }, '/action/dance is not an action'],
    [{ constructor: 1 }, '/action/constructor is not an action'],
    [{ functions_on_speaker_timeout: true }, '/action/functions_on_speaker_timeout has no effect here'],
    [{ say: {} }, '/action/say has a value that this action cannot use'],
    [{ transfer: true }, '/action/transfer has a value that this action cannot use'],
    [{ set_global_data: 'x' }, '/action/set_global_data has a value that this action cannot use'],
    ['stop', '/action must be an object of actions'],
  ])('%j is a warning', (action, warning) => {
    const { effects, warnings } = readReply({ action })
    expect(effects).toEqual([])
    expect(warnings.map(({ path, message }) => `${path} ${message}`)).toEqual([warning])
  })
})

describe('a reply', () => {
  it.each([
    [{}, {}],
    [
      { response: 'Done', post_process: 'true' },
      { response: 'Done', postProcess: true },
    ],
    ['{"response":"Done"}', { response: 'Done' }],
    ['Done', { response: 'Done' }],
    ['5', { response: '5' }],
    [{ response: { tool_result: 'It is 5.', tool_prompt: 'Say it.' } }, { response: 'It is 5.\nSay it.' }],
    [{ response: { tool_result: { a: 1 } } }, { response: '{"a":1}' }],
    [{ response: [1] }, { response: '[1]' }],
    [{ response: 7 }, { response: '7' }],
  ])('%j is read', (value, expected) => {
    expect(readReply(value)).toEqual({ effects: [], postProcess: false, warnings: [], ...expected })
  })

  it('has limits', () => {
    expect(readReply({ action: new Array(20_001).fill({}) }).warnings).toEqual([
      { path: '', message: 'has more than 20000 values' },
    ])
    const { effects, warnings } = readReply({ action: new Array(500).fill({ say: 'a' }) })
    expect(effects).toHaveLength(100)
    expect(warnings).toHaveLength(1)
    expect(readReply({ response: 'x'.repeat(70_000) }).response).toHaveLength(65_536)
    expect(readReply([1]).warnings).toEqual([{ path: '', message: 'must be an object' }])
  })
})
