import { afterEach, describe, expect, it } from 'vitest'
import { noise } from '../stand-ins/testing/caller-audio.ts'
import { answer, WiredCall } from './testing/wired-call.ts'

/** Words of documents that run on a conversation: actions, built-in functions and names with a meaning. */

let call: WiredCall | undefined

afterEach(async () => {
  await call?.close()
  call = undefined
})

const report = { post_prompt: { text: 'Summarize.' }, post_prompt_url: 'http://x.example/report' }
/** URL of a customer's server, which answers nothing. */
const url = 'http://x.example/hook'
const noParameters = { type: 'object', properties: {} }

/** Function without a server, whose output has these actions. */
const acting = (name: string, action: readonly object[], more: object = {}) => ({
  function: name,
  description: `Does ${name}.`,
  parameters: noParameters,
  data_map: { output: { response: `${name} is done.`, action } },
  ...more,
})

interface Plan {
  readonly functions?: readonly object[]
  readonly swaig?: object
  readonly params?: object
  /** Function that the model calls in the first turn, and its arguments. */
  readonly calls: string
  readonly args?: object
}

/** Opens a call in which the caller asks for something, and the model calls a function. */
const asking = async ({ functions = [], swaig = {}, params = {}, calls, args = {} }: Plan) => {
  const rules = [
    { when: { contains: ['please'] }, do: [{ call: { name: calls, arguments: args } }], times: 1 },
    { when: { on: 'result' }, do: [answer('Done.', 300)] },
    { when: 'any', do: [answer('All right.', 600)] },
  ]
  const ai = { ...report, SWAIG: { functions, ...swaig } }
  call = await WiredCall.open({ engine: 'pipeline', rules, ai, params: { ...params } })
  const { log } = call.standIns
  call.says('Please do it.')
  await call.until('the model is asked', () => log.received('POST', 'chat').length > 0)
  return call
}

const doing = (action: readonly object[], more: Partial<Plan> = {}) =>
  asking({ functions: [acting('act', action)], calls: 'act', ...more })

/** Names of functions that the model was offered last. */
const offered = (of: WiredCall): readonly string[] => {
  const last = of.received('POST', 'chat').at(-1) as {
    readonly tools?: readonly { readonly function: { readonly name: string } }[]
  }
  return (last.tools ?? []).map((tool) => tool.function.name)
}

const reportOf = async (of: WiredCall) => {
  of.hangUp()
  await of.passes(400)
  const found = of.context.callbacks.find(({ kind }) => kind === 'agent-report')
  return JSON.parse(found?.body?.text ?? '{}')
}

describe('the action', () => {
  it('user_input is a turn of the caller', async () => {
    const of = await doing([{ user_input: 'I want a pizza.' }])
    await of.until('the model is asked again', () => of.received('POST', 'chat').length > 1)
    expect(of.asked('user')).toEqual(['Please do it.', 'I want a pizza.'])
    await of.hears('the answer to it')
  })

  it('end_of_speech_timeout changes the silence that ends the next turn', async () => {
    const of = await doing([{ end_of_speech_timeout: 2000 }], { params: { enable_turn_detection: false } })
    await of.hears('the answer')
    await of.isSilent('its end')
    of.says('And what else')
    await of.passes(800)
    expect(await of.hears('the next answer')).toBeGreaterThanOrEqual(2000)
  })

  it.each([
    [{ speech_event_timeout: 2000 }],
    [{ extensive_data: true }],
    [{ back_to_back_functions: 'forever' }],
  ])('%j is accepted, and the model goes on with the result', async (action) => {
    const of = await doing([action])
    await of.hears('the answer to the result')
    expect(of.asked('tool')).toEqual(['act is done.'])
    expect([of.context.warnings, of.faults]).toEqual([[], []])
  })

  it('functions_on_speaker_timeout has no effect, and a warning', async () => {
    const of = await doing([{ functions_on_speaker_timeout: true }])
    await of.hears('the answer to the result')
    expect(of.context.warnings.map(({ message }) => message).join()).toContain('functions_on_speaker_timeout')
  })

  it('pause of the conversation ends when its time is over', async () => {
    const of = await asking({
      params: { enable_pause: true },
      calls: 'pause_conversation',
      args: { seconds: 2 },
    })
    await of.passes(600)
    const from = of.tap.played.length
    of.makes(noise(800, of.tap.rate))
    await of.passes(1000)
    expect(of.tap.sounds(from)).toEqual([])
    await of.passes(1500)
    of.says('And now?')
    await of.passes(800)
    await of.hears('the answer')
    expect(of.asked('user')).toEqual(['Please do it.', 'And now?'])
  })
})

describe('the built-in function', () => {
  it('adjust_response_latency changes the silence that ends the next turn', async () => {
    const of = await asking({
      swaig: { native_functions: ['adjust_response_latency'] },
      params: { enable_turn_detection: false },
      calls: 'adjust_response_latency',
      args: { milliseconds: 2000 },
    })
    await of.hears('the answer')
    await of.isSilent('its end')
    of.says('And what else')
    await of.passes(800)
    expect(await of.hears('the next answer')).toBeGreaterThanOrEqual(2000)
  })

  it('wait_seconds is silent for its time', async () => {
    const of = await asking({
      swaig: { native_functions: ['wait_seconds'] },
      calls: 'wait_seconds',
      args: { seconds: 3 },
    })
    expect(await of.hears('the answer')).toBeGreaterThanOrEqual(2000)
    expect(of.asked('tool')).toEqual(['3 seconds have passed.'])
  })

  it.each(['get_visual_input', 'get_ideal_strategy'])('%s is not offered, with a warning', async (name) => {
    const of = await asking({ swaig: { native_functions: [name] }, calls: 'hangup' })
    expect(offered(of)).toEqual(['hangup'])
    expect(of.context.warnings.map(({ message }) => message).join()).toContain(name)
  })
})

describe('the name', () => {
  it.each(['next_step', 'change_context', 'gather_submit', 'get_ideal_strategy'])(
    '%s cannot be that of a function',
    async (name) => {
      const of = await asking({ functions: [acting(name, [])], calls: 'hangup' })
      expect(offered(of)).toEqual(['hangup'])
      expect(of.context.warnings.map(({ message }) => message).join()).toContain(name)
    },
  )

  it.each([
    ['startup_hook', { began: true }],
    ['start_hook', { began: true }],
    ['check_for_input', { polled: true }],
  ])('%s is that of a function which the model does not see', async (name, data) => {
    const functions = [acting(name, [{ set_global_data: data }]), acting('other', [])]
    const of = await asking({ functions, calls: 'other', params: { input_poll_freq: 1000 } })
    expect(offered(of)).toEqual(['other', 'hangup'])
    expect((await reportOf(of)).global_data).toEqual(data)
  })

  it.each(['hangup_hook', 'stop_hook', 'summarize_conversation'])('%s is called at the end', async (name) => {
    const hook = { function: name, description: 'At the end.', parameters: noParameters, web_hook_url: url }
    const of = await asking({ functions: [hook], calls: 'hangup' })
    expect(offered(of)).toEqual(['hangup'])
    await of.until('the script ends', () => of.isOver)
    await of.passes(1000)
    const hooks = of.context.callbacks.filter(({ kind }) => kind === 'agent-function')
    const asked = hooks.map(({ body }) => JSON.parse(body?.text ?? '{}').function)
    expect(asked).toEqual([name])
  })
})
