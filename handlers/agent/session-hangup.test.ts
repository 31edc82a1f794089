import { describe, expect, it } from 'vitest'
import type { FakeAgent } from '../testing/fake-agent.ts'
import { settle } from '../testing/fake-timers.ts'
import type { ActionResult } from './session.ts'
import { functionOf, functionsUrl, SessionRig } from './testing/session-rig.ts'

const script = { version: '1.0.0', sections: { main: [{ sleep: -1 }] } }

const document = {
  post_prompt: 'Sum up.',
  post_prompt_url: 'https://x.example/report',
  SWAIG: {
    defaults: { web_hook_url: functionsUrl },
    functions: [functionOf('book'), functionOf('check_for_input')],
    native_functions: ['wait_seconds'],
  },
  params: { enable_pause: true },
}

type State = (rig: SessionRig, agent: FakeAgent) => unknown

const states: readonly (readonly [string, State])[] = [
  ['the agent listens', () => {}],
  [
    'a webhook hangs',
    (rig, agent) => {
      rig.context.fetchDocument = () => new Promise(() => {})
      void agent.call('book')
    },
  ],
  ['a function waits', (_, agent) => void agent.call('wait_seconds', { seconds: 60 })],
  ['the conversation is on hold', (_, agent) => agent.call('pause_conversation', { seconds: 900 })],
  [
    'a script of an action runs',
    (rig, agent) => {
      const { promise, resolve } = Promise.withResolvers<ActionResult>()
      rig.result = promise
      rig.finishAction = () => resolve({ hasLeft: false })
      rig.reply({ action: [{ SWML: script }] })
      void agent.call('book')
    },
  ],
  [
    'the goodbye is spoken',
    async (_, agent) => {
      agent.silence = new Promise(() => {})
      await agent.call('hangup')
    },
  ],
  [
    'the agent does not stop',
    async (_, agent) => {
      agent.stops = false
      await agent.call('hangup')
    },
  ],
  [
    'a transfer asks for a summary',
    (rig, agent) => {
      agent.summarize = () => new Promise(() => {})
      rig.reply({ action: [{ transfer: { dest: 'next', summarize: true } }] })
      void agent.call('book')
    },
  ],
]

describe.each(states)('while %s', (_name, reach) => {
  it('a hang-up of the caller ends everything, with one report', async () => {
    const rig = new SessionRig()
    rig.reply({})
    const agent = await rig.start(document)
    await reach(rig, agent)
    await settle()
    rig.call.end()
    await settle()
    expect(rig.end).toMatchObject({ end: { kind: 'hangup' } })
    await rig.timers.advance(60_000)
    expect(rig.sent('agent-report')).toHaveLength(1)
    expect(rig.timers.pending).toBe(0)
    expect(rig.call.names.filter((name) => name === 'hangup')).toEqual([])
  })

  it('an engine that fails ends everything, with one report', async () => {
    const rig = new SessionRig()
    rig.reply({})
    const agent = await rig.start(document)
    await reach(rig, agent)
    await settle()
    agent.end({ kind: 'failed', code: 'agent_lost', reason: 'Gone.' })
    await settle()
    // A script on the call is not disturbed by what follows the agent.
    if (rig.finishAction) expect(rig.end).toBeUndefined()
    rig.finishAction?.()
    await settle()
    expect(rig.end).toBeDefined()
    await rig.timers.advance(60_000)
    expect(rig.sent('agent-report')).toHaveLength(1)
    expect(rig.timers.pending).toBe(0)
  })
})
