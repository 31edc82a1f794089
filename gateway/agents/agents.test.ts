import { describe, expect, it } from 'vitest'
import type { AgentOptions } from '../../handlers/verbs.ts'
import type { MediaPort } from '../../media/types.ts'
import { FakeClock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { type AgentLimits, Agents, type AgentsDeps, type EngineSet } from './agents.ts'
import { conversationOptions } from './testing/conversation-rig.ts'
import { FakeEngine } from './testing/fake-engine.ts'
import { FakeTap } from './testing/fake-tap.ts'

const limits: AgentLimits = { maxCalls: 2, maxMs: 60_000, functionTimeoutMs: 20_000 }

class FakeSet implements EngineSet {
  readonly limits = limits
  readonly engine = new FakeEngine()
  isClosed = false

  choose(_: Pick<AgentOptions, 'engine'>, warn: (message: string) => void): FakeEngine[] {
    warn('There is no engine x.')
    return [this.engine]
  }

  complete(_: unknown, __: unknown, ___: unknown, signal: AbortSignal): Promise<string> {
    return new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(new Error('late'))),
    )
  }

  async close(): Promise<void> {
    this.isClosed = true
  }
}

const nothing = () => {}
const log: Log = { child: () => log, info: nothing, warn: nothing, error: nothing } as unknown as Log
const metric = { inc: nothing, observe: nothing }

const open = () => {
  const clock = new FakeClock()
  const set = new FakeSet()
  const metrics = {
    agentsEnded: metric,
    agentEngineFailures: metric,
    agentResponses: metric,
    agentInterruptions: metric,
    agentSounds: metric,
  } as unknown as AgentsDeps['metrics']
  const agents = new Agents(set, {
    render: async () => undefined,
    loadSound: async () => ({ sampleRate: 8000, samples: new Int16Array(new SharedArrayBuffer(2)) }),
    detector: () => undefined,
    clock,
    log,
    metrics,
  })
  const start = (changes: Partial<AgentOptions> = {}, signal = new AbortController().signal) => {
    const tap = new FakeTap()
    const port = { id: 'port', tap: () => tap } as Partial<MediaPort> as MediaPort
    const source = { callId: 'call', projectId: 'project', port, signal }
    return agents.start(source, { ...conversationOptions(), ...changes })
  }
  return { agents, set, clock, start }
}

describe('Agents', () => {
  it('use changed engines for later conversations, and close the former ones after their last one', async () => {
    const { agents, set, start } = open()
    const one = await start()
    const two = await start()
    const next = new FakeSet()
    agents.change(next)
    one.stop()
    await one.ended
    expect(set.isClosed).toBe(false)
    const three = await start()
    expect(next.engine.links).toHaveLength(1)
    two.stop()
    await two.ended
    await Promise.resolve()
    expect([set.isClosed, next.isClosed]).toEqual([true, false])
    await agents.close()
    await three.ended
    expect([agents.running, next.isClosed]).toEqual([0, true])
  })

  it('close unused engines at once when they change', () => {
    const { agents, set } = open()
    agents.change(new FakeSet())
    expect(set.isClosed).toBe(true)
  })

  it('limit the conversations of a project, and their duration', async () => {
    const { start, clock, set } = open()
    const agent = await start({ turns: { ...conversationOptions().turns, hardStopMs: 0 } })
    await start()
    await expect(start()).rejects.toMatchObject({ code: 'agent_busy' })
    for (const { listener } of set.engine.links) listener.onReady()
    clock.advance(60_000)
    await expect(agent.ended).resolves.toEqual({ kind: 'limit' })
  })

  it('report a name that is not configured as a warning', async () => {
    const { start, clock, set } = open()
    const messages: string[] = []
    await start({
      onEvent: (event) => {
        if (event.kind === 'warning') messages.push(event.message)
      },
    })
    set.engine.link.listener.onReady()
    clock.advance(0)
    expect(messages).toEqual(['There is no engine x.'])
  })

  it('end at once on a call that has ended', async () => {
    const { agents, start, clock } = open()
    const agent = await start({}, AbortSignal.abort())
    await expect(agent.ended).resolves.toEqual({ kind: 'hangup' })
    expect([agents.running, clock.running]).toEqual([0, 0])
  })

  it('limit a summary to 15 s', async () => {
    const { start, clock } = open()
    const agent = await start()
    const summary = expect(agent.summarize('Sum up.')).rejects.toMatchObject({ code: 'agent_failed' })
    clock.advance(15_000)
    await summary
  })
})
