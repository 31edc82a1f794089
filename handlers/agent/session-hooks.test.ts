import { describe, expect, it } from 'vitest'
import { settle } from '../testing/fake-timers.ts'
import { functionOf, functionsUrl, SessionRig } from './testing/session-rig.ts'

describe('hooks', () => {
  const hooks = (...names: string[]) => ({
    SWAIG: { defaults: { web_hook_url: functionsUrl }, functions: names.map((name) => functionOf(name)) },
  })

  it('are called at the start and at the end, and are unknown to the model', async () => {
    const rig = new SessionRig()
    rig.reply({ action: [{ set_global_data: { a: 1 } }] })
    const agent = await rig.start({
      ...hooks('startup_hook', 'hangup_hook'),
      prompt: { text: 'A %{global_data.a}' },
    })
    expect(agent.functions).toEqual(['hangup'])
    expect(rig.asked.map((body) => body.function)).toEqual(['startup_hook'])
    expect(agent.prompt).toBe('A 1')
    rig.call.end()
    await settle()
    expect(rig.sent('agent-function').map((body) => body.function)).toEqual(['hangup_hook'])
  })

  it('poll for input until the end', async () => {
    const rig = new SessionRig()
    rig.reply({ action: [{ user_input: 'A message' }] })
    const agent = await rig.start(hooks('check_for_input'))
    await rig.timers.advance(4000)
    expect(rig.asked.map((body) => body.function)).toEqual(['check_for_input', 'check_for_input'])
    expect(agent.of('message')[0]).toEqual([{ role: 'user', content: 'A message' }, true])
    agent.end({ kind: 'stopped' })
    await rig.timers.advance(10_000)
    expect(rig.asked).toHaveLength(2)
    expect(rig.timers.pending).toBe(0)
  })

  it('receive the summary', async () => {
    const rig = new SessionRig()
    const agent = await rig.start({ ...hooks('summarize_conversation'), post_prompt: 'Sum up.' })
    agent.end({ kind: 'stopped' })
    await settle()
    expect(rig.sent('agent-function')[0]).toMatchObject({
      argument: { parsed: [{ summary: 'They talked.' }] },
    })
  })

  it('receive a summary also without a post_prompt, which the report has as that of the conversation', async () => {
    const rig = new SessionRig()
    const agent = await rig.start({
      ...hooks('summarize_conversation'),
      post_prompt_url: 'https://x.example/report',
    })
    agent.end({ kind: 'stopped' })
    await settle()
    expect(rig.sent('agent-function')[0]).toMatchObject({
      function: 'summarize_conversation',
      argument: { parsed: [{ summary: 'They talked.' }] },
    })
    const [body] = rig.sent('agent-report')
    expect(body).toMatchObject({ conversation_summary: 'They talked.' })
    expect(body).not.toHaveProperty('post_prompt_data')
  })

  it('run data maps after the call', async () => {
    const rig = new SessionRig()
    const data_map = {
      webhooks: [{ url: 'https://x.example/%{enc:url:args.summary}', output: { response: 'Ok.' } }],
    }
    const names = ['hangup_hook', 'summarize_conversation']
    rig.context.answers.push({ status: 200, headers: {}, text: '{}' }, { status: 500, headers: {}, text: '' })
    await rig.start({
      SWAIG: { functions: names.map((name) => functionOf(name, { data_map })) },
      post_prompt: 'Sum up.',
    })
    rig.call.end()
    await settle()
    expect(rig.context.outside.map(({ url }) => url)).toEqual([
      'https://x.example/',
      'https://x.example/They%20talked.',
    ])
    expect(rig.context.callbacks).toEqual([])
    expect(rig.timers.pending).toBe(0)
  })
})

it('leaves nothing behind after each poll for input', async () => {
  const rig = new SessionRig()
  rig.reply({})
  const functions = [functionOf('check_for_input'), functionOf('book')]
  const agent = await rig.start({
    SWAIG: { defaults: { web_hook_url: functionsUrl }, functions },
    params: { input_poll_freq: 1000, swaig_post_conversation: true },
    post_prompt_url: 'https://x.example/r',
  })
  for (let i = 0; i < 20; i++) await rig.timers.advance(1000)
  await agent.call('book')
  agent.end({ kind: 'stopped' })
  await settle()
  expect(rig.asked.length).toBeGreaterThan(15)
  const [report] = rig.sent('agent-report')
  const log = report?.swaig_log as { command_name: string; post_data: object }[]
  expect(log.map(({ command_name }) => command_name)).toEqual(['book'])
  expect(log[0]?.post_data).not.toHaveProperty('call_log')
  expect(rig.warnings).toEqual([])
})

it('keeps the prompt during polls, although it has a clock', async () => {
  const rig = new SessionRig()
  rig.reply({})
  const functions = [functionOf('check_for_input'), functionOf('book')]
  const prompt = { text: 'It is @{strftime_tz UTC %T}, %{global_data.name}.' }
  const agent = await rig.start({ prompt, SWAIG: { defaults: { web_hook_url: functionsUrl }, functions } })
  expect(agent.prompt).toBe('It is 12:00:00, .')
  rig.context.time += 5000
  await rig.timers.advance(4000)
  expect([rig.asked.length, agent.of('change')]).toEqual([2, []])
  rig.reply({ action: [{ set_global_data: { name: 'Ada' } }] })
  await agent.call('book')
  expect(agent.prompt).toBe('It is 12:00:00, Ada.')
  rig.reply({ action: [{ set_global_data: { name: 'Ada' } }] })
  await agent.call('book')
  expect(agent.of('change')).toHaveLength(1)
})

it('goes on with polls after the function was off for a while', async () => {
  const rig = new SessionRig()
  rig.reply({})
  const functions = [
    functionOf('check_for_input', { meta_data_token: 't' }),
    functionOf('book', { meta_data_token: 't' }),
  ]
  const agent = await rig.start({ SWAIG: { defaults: { web_hook_url: functionsUrl }, functions } })
  const polls = () => rig.asked.filter((body) => body.function === 'check_for_input').length
  const toggle = async (active: boolean) => {
    rig.reply({ action: [{ toggle_functions: [{ function: 'check_for_input', active }] }] })
    await agent.call('book')
    rig.reply({})
  }
  await toggle(false)
  await rig.timers.advance(4000)
  expect(polls()).toBe(0)
  await toggle(true)
  await rig.timers.advance(4000)
  expect(polls()).toBeGreaterThan(0)
  agent.end({ kind: 'stopped' })
  await settle()
  expect(rig.timers.pending).toBe(0)
})
