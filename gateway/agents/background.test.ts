import { beforeEach, describe, expect, it } from 'vitest'
import type { Prompt } from '../../media/types.ts'
import { AgentBackground } from './background.ts'
import { FakeTap } from './testing/fake-tap.ts'

const prompt: Prompt = { samples: new Int16Array(new SharedArrayBuffer(160)), sampleRate: 8000 }
const url = 'https://x.example/rain.wav'

describe('the background of an agent', () => {
  let tap: FakeTap
  let background: AgentBackground
  let loads: { url: string; signal: AbortSignal; done: PromiseWithResolvers<Prompt> }[]
  let failures: unknown[]

  beforeEach(() => {
    tap = new FakeTap()
    loads = []
    failures = []
    background = new AgentBackground(
      (from, signal) => {
        const done = Promise.withResolvers<Prompt>()
        loads.push({ url: from, signal, done })
        return done.promise
      },
      (error) => failures.push(error),
    )
    background.use(tap)
  })

  const settle = () => new Promise(setImmediate)
  const loaded = async () => {
    loads.at(-1)!.done.resolve(prompt)
    await settle()
  }

  it('plays a sound when it is loaded, and stops it', async () => {
    background.play({ url, volumeDb: -12 })
    await settle()
    expect([loads[0]!.url, tap.commands]).toEqual([url, []])
    await loaded()
    expect(tap.commands).toEqual([['background', { ...prompt, volumeDb: -12 }]])
    background.play(undefined)
    expect(tap.commands.at(-1)).toEqual(['background', undefined])
  })

  it('plays a number of times', async () => {
    background.play({ url, volumeDb: 0, loops: 2 })
    await loaded()
    expect(tap.commands).toEqual([['background', { ...prompt, volumeDb: 0, loops: 2 }]])
  })

  it('cancels what is still loading when another sound comes, or none', async () => {
    background.play({ url, volumeDb: 0 })
    background.play({ url: 'https://x.example/b.wav', volumeDb: 0 })
    background.play(undefined)
    expect(loads.map(({ signal }) => signal.aborted)).toEqual([true, true])
    for (const { done } of loads) done.resolve(prompt)
    await settle()
    expect(tap.commands).toEqual([['background', undefined]])
  })

  it('goes on with another tap', async () => {
    background.play({ url, volumeDb: -3 })
    await loaded()
    const next = new FakeTap()
    background.use(next)
    expect(next.commands).toEqual([['background', { ...prompt, volumeDb: -3 }]])
  })

  it('reports a failure unless the sound is not wanted any more', async () => {
    background.play({ url, volumeDb: 0 })
    loads[0]!.done.reject(new Error('HTTP 404'))
    await settle()
    background.play({ url, volumeDb: 0 })
    background.close()
    loads[1]!.done.reject(new Error('cancelled'))
    await settle()
    expect(failures).toEqual([new Error('HTTP 404')])
  })

  it('plays another sound in its place for a while', async () => {
    const other = { url: 'https://x.example/wait.wav', volumeDb: 0, loops: 3 }
    background.play({ url, volumeDb: -12 })
    await loaded()
    background.meanwhile(other)
    expect(tap.commands).toHaveLength(1)
    await loaded()
    expect(tap.commands.at(-1)).toEqual(['background', { ...prompt, volumeDb: 0, loops: 3 }])
    background.meanwhile(undefined)
    expect(tap.commands.slice(2)).toEqual([['background', { ...prompt, volumeDb: -12 }]])
    background.meanwhile(other)
    await loaded()
    background.play(undefined)
    expect(tap.commands).toHaveLength(4)
    background.meanwhile(undefined)
    expect(tap.commands.slice(4)).toEqual([['background', undefined]])
  })

  it('does not change for a sound that is no longer wanted when it is loaded', async () => {
    background.play({ url, volumeDb: -12 })
    await loaded()
    background.meanwhile({ url: 'https://x.example/wait.wav', volumeDb: 0 })
    background.meanwhile(undefined)
    await loaded()
    expect(loads[1]!.signal.aborted).toBe(true)
    expect(tap.commands).toHaveLength(1)
  })

  it('plays nothing after its end', async () => {
    background.close()
    background.play({ url, volumeDb: 0 })
    expect(loads).toEqual([])
  })
})
