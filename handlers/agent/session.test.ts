import { describe, expect, it } from 'vitest'
import { settle } from '../testing/fake-timers.ts'
import { VerbFailed } from '../verbs.ts'
import { readAgent } from './document.ts'
import { functionOf, functionsUrl, SessionRig } from './testing/session-rig.ts'

const report = { post_prompt: { text: 'Summarize.' }, post_prompt_url: 'https://x.example/report' }

describe('the start', () => {
  it('gives the agent the document, with replaced placeholders', async () => {
    const rig = new SessionRig()
    const agent = await rig.start({
      prompt: { text: 'Sell for %{shop} to %{global_data.name}.', temperature: 0.5 },
      global_data: { name: 'Ann' },
      params: { static_greeting: 'Hello %{global_data.name}', conscience: 'Be kind.' },
      hints: ['Trunkline'],
    })
    expect(agent.options).toMatchObject({
      prompt: 'Sell for Main to Ann.\n\nRemember: Be kind.',
      greeting: { text: 'Hello Ann', isInterruptible: true },
      hints: ['Trunkline'],
      modelSettings: { temperature: 0.5 },
    })
    expect(agent.options.languages).toHaveLength(1)
    expect(agent.functions).toEqual(['hangup'])
    expect(agent.names).toEqual([])
  })

  it('waits longer for the callee of an outbound call', async () => {
    const agent = await new SessionRig({ direction: 'outbound' }).start({
      params: { attention_timeout: 10_000 },
    })
    expect(agent.options.turns.attentionMs).toBe(120_000)
    const inbound = await new SessionRig().start({ params: { attention_timeout: 10_000 } })
    expect(inbound.options.turns.attentionMs).toBe(10_000)
  })

  it('has the usual patience after the first words of the callee', async () => {
    const rig = new SessionRig({ direction: 'outbound' })
    const agent = await rig.start({
      params: { attention_timeout: 10_000, outbound_attention_timeout: 60_000 },
    })
    expect(agent.options.turns.attentionMs).toBe(60_000)
    agent.speak('Hello?')
    expect(agent.of('change')).toEqual([])
    agent.hear('Yes?')
    agent.hear('Who is it?')
    expect(agent.of('change')).toEqual([[{ turns: { attentionMs: 10_000 } }]])
  })

  it('never asks a silent callee if the document switches that off', async () => {
    const agent = await new SessionRig({ direction: 'outbound' }).start({ params: { attention_timeout: 0 } })
    expect(agent.options.turns.attentionMs).toBe(0)
    agent.hear('Yes?')
    expect(agent.of('change')).toEqual([])
  })

  it('fails if no engine is there, without a report', async () => {
    const rig = new SessionRig()
    rig.call.failing.set('startAgent', new VerbFailed('agents_unavailable', 'No engine.'))
    await expect(rig.start(report)).rejects.toThrow('No engine.')
    expect(rig.end).toBeInstanceOf(VerbFailed)
    await settle()
    expect(rig.context.callbacks).toEqual([])
  })

  it('adds the functions of other servers, and starts without them after two seconds', async () => {
    const rig = new SessionRig()
    const url = 'https://y.example/more'
    rig.context.documents[url] = JSON.stringify([
      { function: 'extra', description: 'More.', web_hook_url: url },
    ])
    const agent = await rig.start({ SWAIG: { includes: [{ url, functions: ['extra'] }] } })
    expect(agent.functions).toEqual(['extra', 'hangup'])
    const slow = new SessionRig()
    const { promise, resolve } = Promise.withResolvers<never>()
    slow.context.fetchDocument = () => promise
    const started = slow.start({ SWAIG: { includes: [{ url, functions: ['extra'] }] } })
    await expect(started).rejects.toThrow()
    await slow.timers.advance(2000)
    expect(slow.call.agents[0]?.functions).toEqual(['hangup'])
    resolve({
      url,
      contentType: '',
      text: '[{"function":"late","description":"a","web_hook_url":"https://z.example"}]',
    } as never)
    await settle()
    expect(slow.call.agents[0]?.functions).toEqual(['late', 'hangup'])
  })
})

describe('a function', () => {
  it('asks its server, and gives the reply to the model', async () => {
    const rig = new SessionRig()
    const agent = await rig.startWith({ response: 'Booked.' }, { global_data: { a: 1 } })
    expect(await agent.call('book', { day: 'Monday' })).toEqual({ text: 'Booked.' })
    expect(rig.context.requests[0]).toMatchObject({ url: functionsUrl, method: 'POST' })
    expect(rig.asked[0]).toMatchObject({
      function: 'book',
      argument: { parsed: [{ day: 'Monday' }], raw: '{"day":"Monday"}' },
      call_id: 'c-1',
      global_data: { a: 1 },
      meta_data_token: 't',
      content_disposition: 'SWAIG Function',
      space_id: 's-1',
    })
    expect(rig.asked[0]).not.toHaveProperty('call_log')
  })

  it('survives a reply that is nested too deeply to be written, and its report is sent', async () => {
    const rig = new SessionRig()
    const agent = await rig.startWith({}, { post_prompt_url: 'https://z.example/report' })
    const depth = 100_000
    rig.context.documents[functionsUrl] = `${'['.repeat(depth)}${']'.repeat(depth)}`
    await agent.call('book', {})
    agent.end({ kind: 'stopped' })
    await settle()
    expect(rig.context.callbacks.map(({ kind }) => kind)).toContain('agent-report')
  })

  it('sends variables and logs if the document wants them', async () => {
    const rig = new SessionRig()
    const agent = await rig.startWith(
      {},
      { params: { swaig_post_conversation: true, swaig_post_swml_vars: ['shop'] } },
    )
    agent.hear('Hello')
    expect(await agent.call('book')).toEqual({ text: 'Done.' })
    expect(rig.asked[0]).toMatchObject({
      SWMLVars: { shop: 'Main' },
      call_log: [{ role: 'system' }, { role: 'user', content: 'Hello' }],
    })
  })

  it.each([
    [new Error('503 for https://x.example'), '503'],
    ['<html>', 'not JSON'],
  ])('of a server that fails with %j is a text and a warning', async (reply, warning) => {
    const rig = new SessionRig()
    const agent = await rig.startWith(reply)
    const { text } = await agent.call('book')
    expect(text).toContain('failed')
    expect(rig.warnings.join()).toContain(warning)
  })

  it('cannot be called with faulty arguments, in vain, or under a name that is not there', async () => {
    const rig = new SessionRig()
    const agent = await rig.startWith({}, {}, { active: 1 })
    expect(await agent.call('book', '{"day":')).toMatchObject({
      text: expect.stringContaining('not a JSON object'),
    })
    expect(await agent.call('fly')).toEqual({ text: 'There is no function fly.' })
    expect(rig.asked).toEqual([])
    await agent.call('book')
    expect(agent.functions).toEqual(['hangup'])
    expect(await agent.call('book')).toEqual({ text: 'The function book is not available now.' })
    expect(rig.asked).toHaveLength(1)
  })

  it('has its own time-out, and so do the requests of data maps', async () => {
    const rig = new SessionRig()
    const data_map = { webhooks: [{ url: 'https://x.example/map', output: { response: 'Ok.' } }] }
    const functions = [functionOf('book'), functionOf('map', { data_map }), functionOf('startup_hook')]
    rig.reply({})
    const agent = await rig.start({ SWAIG: { defaults: { web_hook_url: functionsUrl }, functions } })
    await agent.call('book')
    await agent.call('map')
    expect(rig.context.requests.map(({ timeoutMs }) => timeoutMs)).toEqual([20_000, 20_000])
    expect(rig.context.outside.map(({ timeoutMs }) => timeoutMs)).toEqual([20_000])
  })

  it('without a server fails', async () => {
    const rig = new SessionRig()
    const agent = await rig.start({ SWAIG: { functions: [functionOf('lost')] } })
    expect(await agent.call('lost')).toMatchObject({ text: expect.stringContaining('failed') })
    expect(rig.warnings.join()).toContain('neither a web_hook_url nor a data_map')
  })

  it('runs a data map', async () => {
    const rig = new SessionRig()
    const data_map = {
      output: { response: 'It is %{args.city}.', action: [{ set_global_data: { city: '%{args.city}' } }] },
    }
    const agent = await rig.start({
      prompt: { text: 'City: %{global_data.city}' },
      SWAIG: { functions: [functionOf('city', { data_map })] },
    })
    expect(await agent.call('city', { city: 'Bonn' })).toMatchObject({ text: 'It is Bonn.' })
    expect(agent.prompt).toBe('City: Bonn')
  })

  it('of the gateway runs without a server', async () => {
    const rig = new SessionRig()
    const agent = await rig.start({ SWAIG: { native_functions: ['check_time', 'wait_seconds'] } })
    expect((await agent.call('check_time')).text).toContain('2026')
    const waiting = agent.call('wait_seconds', { seconds: 3 })
    await rig.timers.advance(3000)
    expect(await waiting).toEqual({ text: '3 seconds have passed.' })
    expect((await agent.call('wait_for_user')).text).toBe('There is no function wait_for_user.')
  })
})

describe('a reply that does not come', () => {
  const hanging = async () => {
    const rig = new SessionRig()
    const agent = await rig.startWith({})
    const { promise, resolve } = Promise.withResolvers<string>()
    rig.context.fetchDocument = async ({ url }) => ({ url, contentType: '', text: await promise })
    return { rig, agent, answer: (value: unknown) => resolve(JSON.stringify(value)) }
  }

  it('is a text after a minute, and its actions are dropped', async () => {
    const { rig, agent, answer } = await hanging()
    const called = agent.call('book')
    await rig.timers.advance(60_000)
    expect(await called).toEqual({ text: 'The function took too long. Its result is not known.' })
    answer({ action: [{ hangup: true }] })
    await settle()
    expect(rig.call.names).not.toContain('hangup')
    expect(rig.warnings.at(-1)).toContain('1 actions are dropped')
  })

  it('ends with the wish for it', async () => {
    const { agent, answer, rig } = await hanging()
    const over = new AbortController()
    const called = agent.call('book', {}, over.signal)
    over.abort()
    expect((await called).text).toContain('was interrupted')
    expect(rig.warnings).toEqual([])
    answer({ action: [{ set_global_data: { a: 1 } }] })
    await settle()
    expect(rig.warnings.at(-1)).toContain('dropped')
    expect(rig.timers.pending).toBe(0)
  })

  it('of a data map cancels its request with the wish for it', async () => {
    const rig = new SessionRig()
    const data_map = { webhooks: [{ url: 'https://x.example/map', output: {} }] }
    const agent = await rig.start({ SWAIG: { functions: [functionOf('map', { data_map })] } })
    let signal: AbortSignal | undefined
    rig.context.request = (_, cancel) => {
      signal = cancel
      return new Promise(() => {})
    }
    const over = new AbortController()
    const called = agent.call('map', {}, over.signal)
    await settle()
    expect(signal?.aborted).toBe(false)
    over.abort()
    await called
    expect(signal?.aborted).toBe(true)
  })

  it('has no effect after the conversation', async () => {
    const { rig, agent, answer } = await hanging()
    const called = agent.call('book')
    await settle()
    rig.call.end()
    await settle()
    answer({ response: 'Late.', action: [{ SWML: { sections: { main: [] } } }, { hangup: true }] })
    await called
    expect(rig.ran).toEqual([])
    expect(rig.warnings.filter((text) => text.includes('after the end'))).toHaveLength(2)
    expect(rig.timers.pending).toBe(0)
  })
})

describe('the end', () => {
  it('is reported with a summary, also after a hang-up', async () => {
    const rig = new SessionRig()
    const agent = await rig.start(report)
    agent.hear('Hello')
    agent.speak('Hi there.')
    rig.call.end()
    await settle()
    expect(rig.end).toEqual({ end: { kind: 'hangup' }, hasLeft: false })
    expect(agent.of('summarize')).toEqual([['Summarize.']])
    const [body] = rig.sent('agent-report')
    expect(body).toMatchObject({
      action: 'post_conversation',
      post_prompt_data: { raw: 'They talked.', parsed: [] },
      call_log: [{ role: 'system' }, { role: 'user' }, { role: 'assistant', content: 'Hi there.' }],
      SWMLVars: { shop: 'Main' },
      call_ended_by: 'caller',
    })
    expect(rig.context.callbacks[0]?.ends).toBe(body?.ai_session_id)
  })

  it('is reported without a summary if no model gives one in time', async () => {
    const rig = new SessionRig()
    const agent = await rig.start(report)
    agent.summarize = () => new Promise(() => {})
    agent.end({ kind: 'inactive' })
    await rig.timers.advance(14_999)
    expect(rig.sent('agent-report')).toEqual([])
    await rig.timers.advance(1)
    expect(rig.sent('agent-report')[0]).not.toHaveProperty('post_prompt_data')
  })

  it('is not reported without a URL', async () => {
    const rig = new SessionRig()
    const agent = await rig.start({ post_prompt: { text: 'Summarize.' } })
    agent.end({ kind: 'limit' })
    await settle()
    expect(rig.context.callbacks).toEqual([])
    expect(agent.names).toEqual([])
  })

  it('keeps the global data for the next agent of the call', async () => {
    const rig = new SessionRig()
    const agent = await rig.startWith({ action: { set_global_data: { b: 2 } } }, { global_data: { a: 1 } })
    await agent.call('book')
    agent.end({ kind: 'stopped' })
    await settle()
    expect(rig.memory.globalData).toEqual({ a: 1, b: 2 })
    const next = new SessionRig()
    next.memory.globalData = rig.memory.globalData
    expect(
      (
        await next.start({
          prompt: { text: '%{global_data.b} %{global_data.c}' },
          global_data: { b: 0, c: 3 },
        })
      ).prompt,
    ).toBe('2 3')
    const apart = new SessionRig()
    apart.memory.globalData = { b: 5 }
    const own = await apart.start({
      prompt: { text: '%{global_data.b}.' },
      params: { persist_global_data: false },
    })
    expect(own.prompt).toBe('.')
  })
})

it('takes commands from outside', async () => {
  const rig = new SessionRig()
  const agent = await rig.start({ prompt: { text: 'A %{global_data.a}' } })
  expect(agent.options.commands).toBe(rig.session)
  await rig.session?.message({ role: 'system', content: 'Hurry.' }, { globalData: { a: 1 } })
  rig.session?.hold(10, 'One moment.')
  await settle()
  rig.session?.unhold('Go on.')
  rig.session?.stop()
  await settle()
  expect(agent.names).toEqual([
    'change',
    'message',
    'quiet',
    'say',
    'hold',
    'unhold',
    'message',
    'quiet',
    'stop',
  ])
  expect(rig.end).toEqual({ end: { kind: 'stopped' }, hasLeft: false })
  await rig.session?.message({ role: 'user', content: 'Late' })
  expect(agent.names).toHaveLength(9)
})

it('sends events to the debug webhook by level, and to the transcript', async () => {
  const rig = new SessionRig()
  const agent = await rig.start({
    params: { debug_webhook_url: 'https://x.example/debug', debug_webhook_level: 1 },
  })
  agent.hear('Hello')
  agent.emit({ kind: 'partial', text: 'a', isBarge: false })
  agent.end({ kind: 'stopped' })
  await settle()
  const names = rig.sent('agent-debug').map((body) =>
    Object.keys(body)
      .filter((key) => key !== 'call_info')
      .join(),
  )
  expect(names).toEqual(['session_start', 'speech_detect', 'session_end'])
  expect(rig.context.callbacks.every(({ isBestEffort }) => isBestEffort)).toBe(true)
  expect(rig.call.transcript.map(({ type }) => type)).toEqual(['speech_detect', 'partial_result', 'stop'])
})

it('reports functions in the transcript', async () => {
  const rig = new SessionRig()
  const agent = await rig.start({ SWAIG: { functions: [functionOf('pay')] } })
  await agent.call('pay', { card: '4111' })
  rig.call.end()
  await settle()
  expect(rig.call.transcript.map(({ type }) => type)).toEqual(['function_call', 'stop'])
})

it('sends events to the debug webhook for as long as the conversation lasts, and to no other scheme', async () => {
  const rig = new SessionRig()
  const agent = await rig.start({ params: { debug_webhook_url: 'https://u:p@x.example/debug' } })
  for (let i = 0; i < 1500; i++) agent.hear('Hello')
  expect(rig.sent('agent-debug')).toHaveLength(1501)
  expect(rig.warnings).toEqual([])
  const { document, warnings } = readAgent({ prompt: 'Hi', params: { debug_webhook_url: 'file:///etc' } })
  expect(document?.params.debugUrl).toBeUndefined()
  expect(warnings.map(({ path }) => path)).toEqual(['/params/debug_webhook_url'])
})

describe('a server of the Model Context Protocol', () => {
  const answer = (result: object) => ({
    status: 200,
    headers: {},
    text: JSON.stringify({ jsonrpc: '2.0', result }),
  })

  it('runs the function of the end before its session is closed', async () => {
    const rig = new SessionRig()
    const sent: string[] = []
    const tool = { name: 'hangup_hook', description: 'Ends.', inputSchema: { type: 'object' } }
    const results: Record<string, object> = {
      initialize: { protocolVersion: '2025-06-18' },
      'tools/list': { tools: [tool] },
      'tools/call': { content: [] },
    }
    rig.context.request = async ({ body, method: verb, timeoutMs }) => {
      const { id, method = verb } = JSON.parse(body?.text ?? '{}')
      sent.push(`${method} ${timeoutMs ?? 'usual'}`)
      const text = JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} })
      return { status: 200, headers: { 'mcp-session-id': 's' }, text }
    }
    const agent = await rig.start({ SWAIG: { mcp_servers: [{ url: 'https://x.example/mcp' }] } })
    expect(agent.functions).toEqual(['hangup'])
    rig.call.end()
    await settle()
    expect(sent.slice(-2)).toEqual(['tools/call 20000', 'DELETE 20000'])
    expect(sent[0]).toBe('initialize usual')
    expect(rig.context.callbacks).toEqual([])
  })

  it('has functions that the model can call', async () => {
    const rig = new SessionRig()
    const results: Record<string, object> = {
      initialize: { protocolVersion: '2025-06-18' },
      'tools/list': {
        tools: [{ name: 'weather', description: 'Weather.', inputSchema: { type: 'object' } }],
      },
      'tools/call': { content: [{ type: 'text', text: 'Sunny.' }] },
    }
    rig.context.request = async ({ body }) => {
      const { id, method } = JSON.parse(body?.text ?? '{}')
      const { text } = answer(results[method] ?? {})
      return { status: 200, headers: {}, text: JSON.stringify({ ...JSON.parse(text), id }) }
    }
    const agent = await rig.start({ SWAIG: { mcp_servers: [{ url: 'https://x.example/mcp' }] } })
    expect(agent.functions).toEqual(['weather', 'hangup'])
    expect(await agent.call('weather', { city: 'Bonn' })).toEqual({ text: 'Sunny.' })
    rig.context.request = async () => ({ status: 500, headers: {}, text: '' })
    expect((await agent.call('weather')).text).toContain('failed')
    agent.end({ kind: 'stopped' })
    await settle()
    expect(rig.end).toMatchObject({ hasLeft: false })
  })
})
