import { describe, expect, it } from 'vitest'
import { settle } from '../testing/fake-timers.ts'
import { SessionRig } from './testing/session-rig.ts'

describe('a hold', () => {
  it('begins after what the agent is saying, and after its text', async () => {
    const rig = new SessionRig()
    const agent = await rig.start({})
    const speech = Promise.withResolvers<void>()
    const text = Promise.withResolvers<void>()
    agent.silence = speech.promise
    agent.say = async (said) => {
      agent.did.push(['say', said])
      await text.promise
    }
    rig.session?.hold(10, 'One moment.')
    await settle()
    expect(agent.did).toEqual([['quiet']])
    speech.resolve()
    await settle()
    expect(agent.did).toEqual([['quiet'], ['say', 'One moment.']])
    text.resolve()
    await settle()
    expect(agent.names.at(-1)).toBe('hold')
    await rig.timers.advance(9_999)
    expect(agent.names.at(-1)).toBe('hold')
    await rig.timers.advance(1)
    expect(agent.names.at(-1)).toBe('unhold')
    expect(rig.timers.pending).toBe(0)
  })

  it('begins ten seconds later if the agent never falls silent', async () => {
    const rig = new SessionRig()
    const agent = await rig.start({})
    agent.silence = new Promise(() => {})
    rig.session?.hold(10)
    await rig.timers.advance(9_999)
    expect(agent.names).toEqual(['quiet'])
    await rig.timers.advance(1)
    expect(agent.names).toEqual(['quiet', 'cut', 'hold'])
  })

  it('begins ten seconds after its text began, whose rest is not spoken later', async () => {
    const rig = new SessionRig()
    const agent = await rig.start({})
    agent.heard = new Promise(() => {})
    rig.session?.hold(10, 'A long text.')
    await rig.timers.advance(9_999)
    expect(agent.names).toEqual(['quiet', 'say'])
    await rig.timers.advance(1)
    expect(agent.names).toEqual(['quiet', 'say', 'cut', 'hold'])
  })

  it('cuts nothing if it ends while the agent speaks', async () => {
    const rig = new SessionRig()
    const agent = await rig.start({})
    agent.heard = new Promise(() => {})
    rig.session?.hold(10, 'A long text.')
    await rig.timers.advance(5_000)
    rig.session?.unhold()
    await rig.timers.advance(5_000)
    expect(agent.names).toEqual(['quiet', 'say'])
  })

  it('does not begin if it ends before', async () => {
    const rig = new SessionRig()
    const agent = await rig.start({})
    const speech = Promise.withResolvers<void>()
    agent.silence = speech.promise
    rig.session?.hold(10, 'One moment.')
    rig.session?.unhold()
    speech.resolve()
    await settle()
    expect([agent.names, rig.timers.pending]).toEqual([['quiet'], 0])
  })

  it('from the beginning ends by a command, without music', async () => {
    const rig = new SessionRig()
    const agent = await rig.start({ params: { start_paused: true } })
    rig.session?.unhold()
    rig.session?.unhold()
    expect([agent.names, rig.call.names]).toEqual([['unhold'], ['startAgent']])
  })

  it('has no effect after the end', async () => {
    const rig = new SessionRig()
    const agent = await rig.start({})
    agent.end({ kind: 'inactive' })
    await settle()
    rig.session?.hold(10, 'Wait.')
    expect([agent.names, rig.call.names, rig.timers.pending]).toEqual([[], ['startAgent'], 0])
  })
})
