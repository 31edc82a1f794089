import { describe, expect, it } from 'vitest'
import { settle } from '../testing/fake-timers.ts'
import { VerbFailed } from '../verbs.ts'
import type { ActionResult } from './session.ts'
import { functionOf, functionsUrl, SessionRig } from './testing/session-rig.ts'

const script = { version: '1.0.0', sections: { main: [{ play: 'say:a' }] } }

/** Starts an agent whose function replies with actions, and calls it. */
const doing = async (action: unknown, document: object = {}, more: object = {}) => {
  const rig = new SessionRig()
  const agent = await rig.startWith({ response: 'Ok.', action, ...more }, document)
  const result = await agent.call('book')
  await settle()
  return { rig, agent, result }
}

describe('a script of an action', () => {
  it('runs on the call while the agent is held, and speaks to the model by ai_response', async () => {
    const rig = new SessionRig()
    rig.result = { hasLeft: false, response: 'The caller paid.' }
    const agent = await rig.startWith({ response: 'Ok.', action: [{ SWML: script }] })
    expect(await agent.call('book')).toEqual({ text: 'The caller paid.' })
    expect(rig.ran).toEqual([script])
    expect(agent.names).toEqual(['quiet', 'hold', 'unhold'])
  })

  it('begins after ten seconds of speech, whose rest is not spoken later', async () => {
    const rig = new SessionRig()
    rig.result = { hasLeft: false, response: 'The caller paid.' }
    const agent = await rig.startWith({ action: [{ SWML: script }] })
    agent.silence = new Promise(() => {})
    void agent.call('book')
    await settle()
    await rig.timers.advance(9_999)
    expect(rig.ran).toEqual([])
    await rig.timers.advance(1)
    expect(agent.names).toEqual(['quiet', 'cut', 'hold', 'unhold', 'message'])
    expect(rig.ran).toEqual([script])
  })

  it('that takes long does not keep the function: the model hears of it later', async () => {
    const rig = new SessionRig()
    const { promise, resolve } = Promise.withResolvers<ActionResult>()
    rig.result = promise
    const agent = await rig.startWith({
      response: 'Connecting.',
      action: [{ SWML: script }, { set_global_data: { a: 1 } }],
    })
    const called = agent.call('book')
    await rig.timers.advance(5000)
    expect(await called).toEqual({ text: 'Connecting.', respond: false })
    expect(agent.names).toEqual(['quiet', 'hold'])
    resolve({ hasLeft: false, response: 'The callee is busy.' })
    await settle()
    expect(agent.names).toEqual(['quiet', 'hold', 'unhold', 'message'])
    expect(agent.of('message')).toEqual([[{ role: 'system', content: 'The callee is busy.' }, true]])
    agent.end({ kind: 'stopped' })
    await settle()
    expect(rig.memory.globalData).toEqual({ a: 1 })
  })

  it('is not waited for until the function times out, after which its text would be dropped', async () => {
    const rig = new SessionRig()
    const { promise, resolve } = Promise.withResolvers<ActionResult>()
    rig.result = promise
    const agent = await rig.startWith({})
    rig.context.fetchDocument = async ({ url }) => {
      rig.context.time += agent.functionTimeoutMs - 1500
      return {
        url,
        contentType: '',
        text: JSON.stringify({ response: 'One moment.', action: [{ SWML: script }] }),
      }
    }
    const called = agent.call('book')
    await settle()
    await rig.timers.advance(500)
    expect(await called).toEqual({ text: 'One moment.', respond: false })
    resolve({ hasLeft: false, response: 'The callee is busy.' })
    await settle()
    expect(agent.of('message')).toEqual([[{ role: 'system', content: 'The callee is busy.' }, true]])
  })

  it('may leave the agent by its own transfer', async () => {
    const rig = new SessionRig()
    rig.result = { hasLeft: true }
    const agent = await rig.startWith({ action: [{ SWML: script }, { say: 'Too late' }] })
    expect(await agent.call('book')).toMatchObject({ respond: false })
    await settle()
    expect(rig.end).toEqual({ end: { kind: 'stopped' }, hasLeft: true })
    expect(agent.names).not.toContain('say')
    expect(agent.names).not.toContain('unhold')
  })

  it('with transfer leaves the agent after its last words', async () => {
    const rig = new SessionRig()
    const agent = await rig.startWith({ action: [{ SWML: script, transfer: 'true' }] })
    const { promise, resolve } = Promise.withResolvers<void>()
    agent.silence = promise
    expect(await agent.call('book')).toMatchObject({ respond: false })
    await settle()
    expect(agent.names).toEqual(['quiet'])
    resolve()
    await settle()
    expect(agent.names).toEqual(['quiet', 'stop'])
    expect([rig.left, rig.ran, rig.end]).toEqual([
      [[script, {}]],
      [],
      { end: { kind: 'stopped' }, hasLeft: true },
    ])
  })

  it('that is faulty is a text for the model, and the agent stays', async () => {
    const rig = new SessionRig()
    rig.refusal = new VerbFailed('x', 'The document is not valid.')
    const agent = await rig.startWith({ action: [{ SWML: script, transfer: true }] })
    expect(await agent.call('book')).toEqual({ text: 'The action failed: The document is not valid.' })
    expect(agent.names).toEqual([])
    expect(rig.warnings).toHaveLength(1)
  })

  it('can be forbidden', async () => {
    const { rig, agent } = await doing([{ SWML: script }], { params: { swaig_allow_swml: false } })
    expect([rig.ran, agent.names]).toEqual([[], []])
    expect(rig.warnings.join()).toContain('forbids')
  })
})

describe('actions that act on the call', () => {
  it('do nothing if the conversation ends before the agent is silent', async () => {
    const rig = new SessionRig()
    const agent = await rig.startWith({ action: [{ SWML: script }] })
    const { promise, resolve } = Promise.withResolvers<void>()
    agent.silence = promise
    const called = agent.call('book')
    await settle()
    agent.end({ kind: 'inactive' })
    resolve()
    await called
    await settle()
    expect([rig.ran, agent.names, rig.end]).toEqual([
      [],
      ['quiet'],
      { end: { kind: 'inactive' }, hasLeft: false },
    ])
  })

  it('and a transfer whose summary comes after the end do not leave', async () => {
    const rig = new SessionRig()
    const agent = await rig.startWith({
      action: [{ transfer: { dest: 'https://x.example', summarize: true } }],
    })
    const { promise, resolve } = Promise.withResolvers<string>()
    agent.summarize = () => promise
    const called = agent.call('book')
    await settle()
    agent.end({ kind: 'inactive' })
    resolve('They talked.')
    await called
    expect([rig.left, rig.end]).toEqual([[], { end: { kind: 'inactive' }, hasLeft: false }])
  })

  it('keep the agent on hold until the last of two causes has ended', async () => {
    const rig = new SessionRig()
    const { promise, resolve } = Promise.withResolvers<ActionResult>()
    rig.result = promise
    const agent = await rig.startWith({ action: [{ hold: 10 }, { SWML: script }] })
    void agent.call('book')
    await rig.timers.advance(10_000)
    expect(rig.call.names.at(-1)).toBe('unhold')
    expect(agent.names.filter((name) => name.includes('hold'))).toEqual(['hold'])
    resolve({ hasLeft: false })
    await settle()
    expect(agent.names.filter((name) => name.includes('hold'))).toEqual(['hold', 'unhold'])
  })

  it('and took long let the model go on, if they have nothing to say', async () => {
    const rig = new SessionRig()
    const { promise, resolve } = Promise.withResolvers<ActionResult>()
    rig.result = promise
    const agent = await rig.startWith({ action: [{ SWML: script }] })
    const called = agent.call('book')
    await rig.timers.advance(5000)
    expect(await called).toMatchObject({ respond: false })
    resolve({ hasLeft: false })
    await settle()
    expect(agent.names.slice(-2)).toEqual(['unhold', 'message'])
    expect(agent.of('message')).toMatchObject([[{ role: 'system' }, true]])
  })

  it('play a sound to its end while the agent is silent', async () => {
    const { rig, agent, result } = await doing(
      [{ playback_bg: { file: 'https://x.example/a.wav', wait: true } }],
      { params: { background_file: 'https://x.example/b.wav', background_file_volume: -9 } },
    )
    const sounds = [{ kind: 'audio', url: 'https://x.example/a.wav' }]
    expect(rig.call.verbs).toContainEqual(['play', { sounds, volumeDb: -9 }])
    expect(agent.names).toEqual(['background', 'quiet', 'hold', 'unhold'])
    expect(result).toEqual({ text: 'Ok.' })
  })
})

describe('an end', () => {
  it('by hangup waits for the goodbye, ten seconds at most', async () => {
    const rig = new SessionRig()
    const agent = await rig.startWith({ action: [{ hangup: true }] })
    agent.silence = new Promise(() => {})
    expect(await agent.call('book')).toEqual({ text: 'Done.', respond: false })
    await rig.timers.advance(9_999)
    expect(agent.names).toEqual(['quiet'])
    await rig.timers.advance(1)
    expect(agent.names).toEqual(['quiet', 'stop'])
    expect(rig.call.names).toEqual(['startAgent', 'hangup'])
    expect(rig.end).toEqual({ end: { kind: 'stopped' }, hasLeft: false })
  })

  it('comes even if the agent does not stop', async () => {
    const rig = new SessionRig()
    const agent = await rig.startWith({ action: [{ stop: true }] })
    agent.stops = false
    await agent.call('book')
    await rig.timers.advance(15_000)
    expect(rig.end).toEqual({ end: { kind: 'stopped' }, hasLeft: false })
    expect(rig.call.names).toEqual(['startAgent'])
    expect(rig.timers.pending).toBe(0)
  })

  it('happens once, whatever follows', async () => {
    const rig = new SessionRig()
    const agent = await rig.startWith({ action: [{ stop: true }, { hangup: true }] })
    await agent.call('book')
    await agent.call('hangup')
    await settle()
    expect(agent.names.filter((name) => name === 'stop')).toHaveLength(1)
    expect(rig.call.names).toEqual(['startAgent'])
  })

  it('by the model itself hangs up', async () => {
    const rig = new SessionRig()
    const agent = await rig.start({})
    expect(await agent.call('hangup')).toEqual({ text: 'The call ends.', respond: false })
    await settle()
    expect(rig.call.names).toEqual(['startAgent', 'hangup'])
  })

  it('by transfer takes a summary along', async () => {
    const { rig, agent } = await doing([{ transfer: { dest: 'https://x.example/next', summarize: true } }])
    expect(agent.of('summarize')).toHaveLength(1)
    expect(rig.left).toEqual([['https://x.example/next', { conversation_summary: 'They talked.' }]])
    expect(rig.end).toMatchObject({ hasLeft: true })
  })
})

describe('actions', () => {
  it('after the model spoke run afterwards', async () => {
    const { rig, agent, result } = await doing([{ hangup: true }], {}, { post_process: true })
    expect(result.text).toBe('Ok.')
    expect(agent.names).toEqual([])
    await result.after?.()
    await settle()
    expect(rig.call.names).toEqual(['startAgent', 'hangup'])
  })

  it('change the data, and the prompt with it', async () => {
    const { agent } = await doing([{ set_global_data: { a: 1, b: 2 } }, { unset_global_data: 'b' }], {
      prompt: { text: 'A %{global_data.a} B %{global_data.b}' },
    })
    expect(agent.prompt).toBe('A 1 B ')
  })

  it('cannot change the data if the document forbids it', async () => {
    const { rig, agent } = await doing([{ set_global_data: { a: 1 } }], {
      params: { swaig_set_global_data: false },
    })
    expect(agent.names).toEqual([])
    expect(rig.warnings.join()).toContain('forbids')
  })

  it('change data of the token, which later requests carry', async () => {
    const { rig, agent } = await doing([{ set_meta_data: { x: 1, y: 2 } }, { unset_meta_data: ['x'] }])
    await agent.call('book')
    expect(rig.asked[1]).toMatchObject({ meta_data: { y: 2 } })
  })

  it('switch functions of the same token', async () => {
    const rig = new SessionRig()
    rig.reply({ action: [{ toggle_functions: [{ function: ['a', 'c'], active: false }] }] })
    const functions = [
      functionOf('a', { meta_data_token: 't' }),
      functionOf('b', { meta_data_token: 't' }),
      functionOf('c', { meta_data_token: 'u' }),
    ]
    const agent = await rig.start({ SWAIG: { defaults: { web_hook_url: functionsUrl }, functions } })
    await agent.call('b')
    expect(agent.functions).toEqual(['b', 'c', 'hangup'])
    expect(rig.warnings.join()).toContain('c are unknown')
  })

  it('speak, wait and listen', async () => {
    const { agent, result } = await doing([{ say: 'One moment' }, { wait_for_user: 3 }])
    expect(agent.names).toEqual(['say', 'waitForUser'])
    expect(agent.of('waitForUser')).toEqual([[3000]])
    expect(result.respond).toBe(false)
  })

  it('let the model answer before it waits', async () => {
    const { agent, result } = await doing([{ wait_for_user: 'answer_first' }])
    expect(agent.names).toEqual([])
    expect(result.respond).toBeUndefined()
    await result.after?.()
    expect(agent.names).toEqual(['waitForUser'])
  })

  it('play a sound behind, and stop it', async () => {
    const { agent } = await doing([{ playback_bg: 'https://x.example/a.wav' }, { stop_playback_bg: true }])
    expect(agent.of('background')).toEqual([[{ url: 'https://x.example/a.wav', volumeDb: 0 }], [undefined]])
  })

  it('change settings unless the document forbids it', async () => {
    const action = [
      { settings: { temperature: 0.2 } },
      { end_of_speech_timeout: 1500 },
      { add_dynamic_hints: ['Bonn'] },
    ]
    const { agent } = await doing(action, { hints: ['Ulm'] })
    expect(agent.of('change')).toEqual([
      [{ modelSettings: { temperature: 0.2 } }],
      [{ turns: { endOfSpeechMs: 1500 } }],
      [{ hints: ['Ulm', 'Bonn'] }],
    ])
    const forbidden = await doing(action, { params: { swaig_allow_settings: false } })
    expect(forbidden.agent.of('change')).toEqual([[{ hints: ['Bonn'] }]])
  })

  it('do not repeat a pattern that is known', async () => {
    const pattern = { hint: 'Köln', pattern: 'koeln', replace: 'Köln' }
    const { rig, agent } = await doing([{ add_dynamic_hints: [pattern] }])
    await agent.call('book')
    rig.reply({ action: [{ add_dynamic_hints: [{ ...pattern, ignore_case: true }] }] })
    await agent.call('book')
    const lengths = agent
      .of('change')
      .map(([change]) => (change as { corrections?: readonly unknown[] }).corrections?.length)
    expect(lengths).toEqual([1, 1, 2])
  })

  it('add hints and patterns once each, and remove those that were added', async () => {
    const pattern = { hint: 'Köln', pattern: 'k[oö]ln', replace: 'Köln', ignore_case: true }
    const action = [{ add_dynamic_hints: ['Bonn', pattern] }, { add_dynamic_hints: ['Bonn'] }]
    const { rig, agent } = await doing(action, { hints: ['Ulm'] })
    const corrections = [{ replace: 'k[oö]ln', with: 'Köln', ignoreCase: true, isPattern: true }]
    const hints = ['Ulm', 'Bonn', 'Köln']
    expect(agent.of('change')).toEqual([[{ hints, corrections }], [{ hints }]])
    rig.reply({ action: [{ clear_dynamic_hints: {} }] })
    await agent.call('book')
    expect(agent.of('change').at(-1)).toEqual([{ hints: ['Ulm'], corrections: [] }])
  })

  it('replace a result in the history, also if they follow the answer', async () => {
    const action = [{ replace_in_history: 'Booked it.' }]
    const { rig, agent, result } = await doing(
      action,
      { post_prompt_url: 'https://x.example/r' },
      {
        post_process: true,
      },
    )
    expect(result).toMatchObject({ text: 'Ok.', kept: 'Booked it.' })
    agent.end({ kind: 'stopped' })
    await settle()
    expect(rig.sent('agent-report')[0]).toMatchObject({
      call_log: [{}, { role: 'tool', content: 'Booked it.' }],
    })
  })

  it('replace a result in the history', async () => {
    const { result } = await doing([{ replace_in_history: 'Booked it.' }])
    expect(result).toMatchObject({ text: 'Ok.', kept: 'Booked it.' })
  })

  it('send events to the browser', async () => {
    const { rig } = await doing([{ user_event: { type: 'cart' } }])
    expect(rig.call.verbs).toContainEqual(['sendUserEvent', { type: 'cart' }])
  })

  it('hold the conversation for a while, with music', async () => {
    const { rig, agent, result } = await doing([{ hold: { timeout: 20 } }], {
      params: { hold_music: 'file:a.wav' },
    })
    expect(result.respond).toBe(false)
    expect(rig.call.verbs.at(-1)).toEqual(['hold', { music: [{ kind: 'audio', url: 'file:a.wav' }] }])
    await rig.timers.advance(20_000)
    expect(agent.names).toEqual(['quiet', 'hold', 'unhold'])
    expect(rig.call.names.at(-1)).toBe('unhold')
  })

  it('switch the role of the agent', async () => {
    const { agent } = await doing([
      { context_switch: { system_prompt: 'Be a pirate.', consolidate: true, user_prompt: 'Ahoy' } },
    ])
    expect(agent.prompt).toBe('Be a pirate.')
    expect(agent.of('change')).toContainEqual([
      { history: [{ role: 'system', content: 'Conversation so far: They talked.' }] },
    ])
    expect(agent.of('message')).toEqual([[{ role: 'user', content: 'Ahoy' }, false]])
  })

  it('of two replies do not mix', async () => {
    const rig = new SessionRig()
    const { promise, resolve } = Promise.withResolvers<ActionResult>()
    rig.result = promise
    const agent = await rig.startWith({ action: [{ SWML: script }, { say: 'one' }] })
    const first = agent.call('book')
    await settle()
    rig.reply({ action: [{ say: 'two' }] })
    const second = agent.call('book')
    await settle()
    resolve({ hasLeft: false })
    await Promise.all([first, second])
    expect(agent.of('say').flat()).toEqual(['one', 'two'])
  })
})
