import { afterAll, describe, expect, it } from 'vitest'
import { Sandbox } from '../script/sandbox/sandbox.ts'
import { FakeCall } from '../testing/fake-call.ts'
import { FakeContext } from '../testing/fake-context.ts'
import { FakeTimers } from '../testing/fake-timers.ts'
import type { CollectResult, ConnectResult } from '../verbs.ts'
import { createFlowHandler } from './handler.ts'

const sandbox = new Sandbox({ after: () => ({ cancel: () => {} }) })
const handler = createFlowHandler({ nodeId: 'n', spaceId: 's', sandbox, timers: new FakeTimers() })
afterAll(() => sandbox.close())

const menu = {
  welcome: { kind: 'start', edges: { next: 'ask' } },
  ask: {
    kind: 'gather',
    options: {
      play: 'say:Press 1 or say help',
      choices: [
        { name: 'sales', digits: '1' },
        { name: 'help', digits: '22', phrases: ['Help', 'help me'] },
      ],
    },
    edges: { sales: 'call', help: 'spoken', no_input: 'ask', unknown: 'bye' },
  },
  call: {
    kind: 'forward',
    options: {
      to: [{ to: '+15550003' }, { to: '/public/alice', timeout: 10 }],
      whisper: 'https://x.example/w',
    },
    edges: { success: 'bye', no_answer: 'mail', busy: 'mail', decline: 'mail' },
  },
  mail: { kind: 'voicemail', options: { greeting: 'say:Leave a message' }, edges: { recorded: 'bye' } },
  spoken: { kind: 'play', options: { url: 'say:%{prompt_value}' }, edges: { next: 'bye' } },
  bye: { kind: 'hang_up', options: { reason: 'hangup' } },
}

const run = async (nodes: object, { call = new FakeCall(), context = new FakeContext() } = {}) => {
  const text = JSON.stringify({ version: '1.0.0', nodes })
  await handler.run(call, { kind: 'inline', text, name: 'test' }, context)
  return { call, context, names: call.names, nodes: [...new Set(context.steps.map(({ node }) => node))] }
}

const answering = (...collects: CollectResult[]) => {
  const call = new FakeCall()
  call.collects.push(...collects)
  return call
}
const pressed = (digits: string): CollectResult => ({ reason: 'complete', digits })

describe('a call flow', () => {
  it('follows the edges of its outcomes and reports the node of each step', async () => {
    const call = answering({ reason: 'no-input', digits: '' }, pressed('1'))
    const { names, nodes, context } = await run(menu, { call })
    expect(names).toEqual(['collect', 'collect', 'connect', 'hangup'])
    expect(nodes).toEqual([undefined, 'welcome', 'ask', 'call', 'bye'])
    expect(context.warnings).toEqual([])
  })

  it('collects as many digits as its choices have, and speech if a choice has a phrase', async () => {
    const { call } = await run(menu, { call: answering(pressed('9')) })
    expect(call.verbs[0]?.[1]).toMatchObject({
      maxDigits: 2,
      digits: true,
      speech: { hints: ['Help', 'help me'] },
    })
    expect(call.names).toEqual(['collect', 'hangup'])
  })

  it('recognises a phrase regardless of case and punctuation', async () => {
    const said: CollectResult = { reason: 'speech', digits: '', speech: { text: ' Help Me ' } }
    const { call, names } = await run(menu, { call: answering(said) })
    expect(names).toEqual(['collect', 'play', 'hangup'])
    expect(call.verbs[1]?.[1]).toMatchObject({ sounds: [{ text: 'Help Me' }] })
  })

  it('recognises the maximum number of phrases of a choice', async () => {
    const phrases = Array.from(
      { length: 100 },
      (_, i) => `I would like to talk to a person about ${i} "things"`,
    )
    const said: CollectResult = { reason: 'speech', digits: '', speech: { text: phrases.at(-1)! } }
    const { names } = await run(
      {
        in: { kind: 'start', edges: { next: 'ask' } },
        ask: {
          kind: 'gather',
          options: { play: 'say:Well?', choices: [{ name: 'talk', phrases }] },
          edges: { talk: 'answer', unknown: 'bye' },
        },
        answer: { kind: 'play', options: { url: 'say:Good' } },
        bye: { kind: 'hang_up' },
      },
      { call: answering(said) },
    )
    expect(names).toEqual(['collect', 'play'])
  })

  const failed = (reason: Extract<ConnectResult, { kind: 'failed' }>['reason']): ConnectResult => ({
    kind: 'failed',
    reason,
    code: 'busy',
  })

  it.each(['no-answer', 'busy', 'declined'] as const)(
    'forwards the caller and takes a message after %s',
    async (reason) => {
      const call = answering(pressed('1'))
      call.connects.push(failed(reason))
      const { names } = await run(menu, { call })
      expect(names).toEqual(['collect', 'connect', 'play', 'record', 'hangup'])
      expect(call.verbs[1]?.[1]).toMatchObject({
        steps: [[{ to: '+15550003', timeoutMs: 45_000 }], [{ to: '/public/alice', timeoutMs: 10_000 }]],
      })
      expect(call.verbs[3]?.[1]).toMatchObject({ beep: true })
    },
  )

  it('ends at an outcome without an edge', async () => {
    const call = answering(pressed('1'))
    call.connects.push(failed('unreachable'))
    expect((await run(menu, { call })).names).toEqual(['collect', 'connect'])
    const quiet = answering(pressed('1'))
    quiet.connects.push(failed('busy'))
    quiet.recordings.push({ reason: 'no-input' })
    expect((await run(menu, { call: quiet })).names).toEqual(['collect', 'connect', 'play', 'record'])
  })

  it.each(['busy', 'no-answer', 'declined'] as const)(
    'lets the gateway reject an unanswered caller for %s if that outcome has no edge',
    async (reason) => {
      const call = new FakeCall()
      call.connects.push(failed(reason))
      const nodes = {
        a: { kind: 'start', edges: { next: 'b' } },
        b: { kind: 'forward', options: { to: [{ to: '+1555' }], answer_on_bridge: true } },
      }
      expect((await run(nodes, { call })).names).toEqual(['connect'])
    },
  )

  it('rings all destinations at once if the node says so', async () => {
    const nodes = {
      a: { kind: 'start', edges: { next: 'b' } },
      b: {
        kind: 'forward',
        options: { order: 'simultaneous', to: [{ to: '+1555' }, { to: '+1556' }], answer_on_bridge: true },
      },
    }
    const { call } = await run(nodes)
    expect(call.verbs[0]?.[1]).toMatchObject({
      answerOnBridge: true,
      steps: [[{ to: '+1555' }, { to: '+1556' }]],
    })
  })

  it.each([
    ['{"status":"gold"}', 200, 'gold'],
    ['{"status":"tin"}', 200, 'else'],
    ['', 500, 'failure'],
  ])('branches by the answer of a server: %s with %i leads to %s', async (text, status, expected) => {
    const say = (what: string) => ({ kind: 'play', options: { url: `say:${what}` } })
    const nodes = {
      a: { kind: 'start', edges: { next: 'b' } },
      b: {
        kind: 'request',
        options: {
          url: 'https://x.example/',
          method: 'GET',
          save_variables: true,
          conditions: [{ name: 'gold', when: "request_response.status == 'gold'" }],
        },
        edges: { gold: 'gold', else: 'else', failure: 'failure' },
      },
      gold: say('gold'),
      else: say('else'),
      failure: say('failure'),
    }
    const context = new FakeContext()
    context.answers.push({ status, headers: { 'content-type': 'application/json' }, text })
    const { call } = await run(nodes, { context })
    expect(call.verbs[0]?.[1]).toMatchObject({ sounds: [{ text: expected }] })
  })

  it.each([
    ['2026-01-05T12:00:00Z', 'open'],
    ['2026-01-05T20:00:00Z', 'closed'],
  ])('branches by opening hours: at %s it is %s', async (iso, expected) => {
    const nodes = {
      a: { kind: 'start', edges: { next: 'b' } },
      b: {
        kind: 'hours',
        options: { open: [{ days: ['mon'], from: '09:00', to: '17:00' }] },
        edges: { open: 'c', closed: 'd' },
      },
      c: { kind: 'play', options: { url: 'say:open' } },
      d: { kind: 'play', options: { url: 'say:closed' } },
    }
    const context = new FakeContext()
    context.time = Date.parse(iso)
    const { call } = await run(nodes, { context })
    expect(call.verbs[0]?.[1]).toMatchObject({ sounds: [{ text: expected }] })
  })

  it('sets variables, branches by them, records in the background and runs scripts', async () => {
    const script = JSON.stringify({ sections: { main: [{ return: 'vip' }] } })
    const nodes = {
      a: { kind: 'start', edges: { next: 'b' } },
      b: { kind: 'set', options: { variables: { n: 2, gone: 1 } }, edges: { next: 'c' } },
      c: { kind: 'unset', options: { variables: ['gone'] }, edges: { next: 'd' } },
      d: {
        kind: 'conditions',
        options: {
          conditions: [
            { name: 'many', when: 'n > 5' },
            { name: 'few', when: 'n > 1' },
          ],
        },
        edges: { few: 'e' },
      },
      e: { kind: 'start_recording', options: { name: 'all', stereo: true }, edges: { next: 'f' } },
      f: {
        kind: 'execute',
        options: { dest: script, conditions: [{ name: 'vip', when: "return_value == 'vip'" }] },
        edges: { vip: 'g' },
      },
      g: { kind: 'stop_recording', options: { name: 'all' } },
    }
    const { names, call, context, nodes: passed } = await run(nodes)
    expect(names).toEqual(['startRecording', 'stop'])
    expect(call.verbs[0]?.[1]).toMatchObject({ tracks: 'stereo' })
    expect(passed).toEqual([undefined, 'a', 'b', 'c', 'd', 'e', 'f', 'g'])
    expect(context.steps.filter(({ node }) => !node)).toHaveLength(2)
  })

  it.each([
    [{ kind: 'connected', endedBy: 'callee', durationMs: 7000, callee: { callId: 'c-2', to: 'x' } }, 'bye'],
    [{ kind: 'failed', reason: 'error', code: 'unknown_address' }, 'sorry'],
  ])('connects the caller to an agent: %j', async (result, next) => {
    const call = new FakeCall()
    call.connects.push(result as unknown as ConnectResult)
    const nodes = {
      start: { kind: 'start', edges: { next: 'ask' } },
      ask: {
        kind: 'agent',
        options: { address: '/public/assistant' },
        edges: { ended: 'bye', error: 'sorry' },
      },
      bye: { kind: 'hang_up' },
      sorry: { kind: 'play', options: { url: 'say:Sorry' } },
    }
    const { nodes: passed } = await run(nodes, { call })
    expect(call.verbs[0]).toMatchObject(['connect', { steps: [[{ to: '/public/assistant' }]] }])
    expect(passed.at(-1)).toBe(next)
  })

  it('accepts a script instead, and is requested with the same body', async () => {
    const text = 'sections: { main: [{ play: { url: "say:hello" } }] }'
    const context = new FakeContext({ 'https://x.example/flow': text })
    const call = new FakeCall()
    await handler.run(call, { kind: 'url', url: 'https://x.example/flow' }, context)
    expect(call.names).toEqual(['play'])
    expect(JSON.parse(context.requests[0]?.body?.text ?? '')).toMatchObject({ call: { call_id: 'c-1' } })
  })

  it('reports its faults to the call state URL', async () => {
    const status = { url: 'https://app.example/status', method: 'POST' } as const
    const context = Object.assign(new FakeContext(), { status })
    const codes = () => context.callbacks.map(({ body }) => JSON.parse(body?.text ?? '').params.code)
    await expect(run({ begin: { kind: 'dance' } }, { context })).rejects.toThrow()
    expect(codes()).not.toEqual([])
    expect(context.callbacks[0]).toMatchObject({ url: status.url, kind: 'warning' })
  })

  it('warns of a failed step with its node', async () => {
    const context = new FakeContext()
    const nodes = {
      a: { kind: 'start', edges: { next: 'get' } },
      get: { kind: 'request', options: { url: 'https://x.example/', method: 'GET' } },
    }
    await run(nodes, { context })
    expect(context.warnings[0]?.message).toMatch(/^get: /)
  })
})
