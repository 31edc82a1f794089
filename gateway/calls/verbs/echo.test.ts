import { describe, expect, it } from 'vitest'
import type { EchoOptions } from '../../../handlers/verbs.ts'
import { settle, setUp } from '../testing/calls-fixture.ts'
import type { FakeTap } from '../testing/fake-listeners.ts'

/** Starts a call that echoes; `came` is the result of the verb. */
const echoing = async (options: Partial<EchoOptions> = {}) => {
  const fixture = setUp()
  const came: { over?: true; error?: unknown } = {}
  const { leg, port } = fixture.arrive(async (call) => {
    try {
      await call.echo({ timeoutMs: 10_000, ...options })
      came.over = true
    } catch (error) {
      came.error = error
    }
    if (!call.signal.aborted) await call.sleep(60_000)
  })
  await settle()
  return { ...fixture, leg, port, came, tap: port.taps[0] as FakeTap }
}

describe('echo', () => {
  it('answers, and plays the caller’s audio back until the end of the time', async () => {
    const { leg, tap, clock, came } = await echoing()
    expect(leg.isAnswered).toBe(true)
    expect(tap.request).toEqual({ tracks: 'in', sampleRate: 8000 })
    const samples = Int16Array.of(1, 2, 3)
    tap.hear({ track: 'in', atMs: 0, samples })
    expect(tap.output).toEqual([samples])
    clock.advance(9_999)
    await settle()
    expect(tap.closed).toBe(false)
    clock.advance(1)
    await settle()
    expect([tap.closed, came]).toEqual([true, { over: true }])
  })

  it('ends with the call', async () => {
    const { leg, tap, came } = await echoing()
    leg.ended({ code: 'normal' })
    await settle()
    expect([tap.closed, came.error]).toMatchObject([true, { name: 'CallEnded' }])
  })

  it('ends when it is canceled, and the call goes on', async () => {
    const giveUp = new AbortController()
    const { leg, tap, came } = await echoing({ signal: giveUp.signal })
    giveUp.abort(new Error('enough'))
    await settle()
    expect([tap.closed, came.error]).toMatchObject([true, { message: 'enough' }])
    expect(leg.isEnded).toBe(false)
  })
})
