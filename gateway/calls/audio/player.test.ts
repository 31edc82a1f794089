import { beforeEach, describe, expect, it } from 'vitest'
import type { Sound } from '../../../handlers/verbs.ts'
import { encodedRate } from '../../../media/rtp/encoding.ts'
import type { PcmRate, PrepareOptions, Prompt, SoundSource } from '../../../media/types.ts'
import { settle } from '../testing/calls-fixture.ts'
import { FakePort } from '../testing/fake-legs.ts'
import { Player } from './player.ts'

const prompt = (): Prompt => ({ sampleRate: 8000, samples: new Int16Array(new SharedArrayBuffer(160)) })
const audio = (name: string): Sound => ({ kind: 'audio', url: `https://sounds.example/${name}` })

describe('the player', () => {
  let port: FakePort
  let fetched: string[]
  let prepared: SoundSource['kind'][]
  let rates: (PcmRate | undefined)[]
  let options: PrepareOptions[]
  let signals: (AbortSignal | undefined)[]
  let broken: string | undefined
  /** Promise that holds back every fetch until a test resolves it. */
  let held: Promise<void>
  let player: Player

  beforeEach(() => {
    port = new FakePort('call')
    fetched = []
    prepared = []
    rates = []
    options = []
    signals = []
    broken = undefined
    held = Promise.resolve()
    player = new Player(
      {
        prepare: async ({ kind }, rate, how = {}) => {
          prepared.push(kind)
          rates.push(rate)
          options.push(how)
          how.warn?.('not as requested')
          return prompt()
        },
        close: async () => {},
      },
      {
        bytes: async (url, signal) => {
          fetched.push(new URL(url).pathname)
          signals.push(signal)
          await held
          if (signal?.aborted) throw new Error('canceled')
          if (url === broken) throw new Error('404')
          return { bytes: new Uint8Array() }
        },
      },
    )
  })

  /** Plays the sound on the port to its end. */
  const next = async () => {
    port.playing?.finish('finished')
    await settle()
  }

  it('fetches each sound once for all passes, and the next sound in advance', async () => {
    const { done } = player.start(port, [audio('a'), audio('b')], { loop: 3 })
    await settle()
    expect(fetched).toEqual(['/a', '/b'])
    for (let i = 0; i < 6; i++) {
      expect(port.playing).toBeDefined()
      await next()
    }
    await done
    expect([fetched, port.playing]).toEqual([['/a', '/b'], undefined])
  })

  it('leaves the repetition of a single sound to the port', async () => {
    player.start(port, [audio('a')], { loop: 0, volumeDb: -6 })
    await settle()
    expect(port.playing?.request).toMatchObject({ loop: 0, volumeDb: -6 })
  })

  it('ends a list of empty sounds at once, whatever its number of passes', async () => {
    const playing = player.start(port, [{ kind: 'ringtone', ms: 0 }], { loop: 0 })
    let end: string | undefined
    playing.done.then((how) => {
      end = how
    })
    // An endless list would keep resolving promises, and the test would never end.
    for (let i = 0; i < 100; i++) await Promise.resolve()
    playing.stop()
    expect(end).toBe('finished')
  })

  it('plays a ringing tone without a length until it is stopped', async () => {
    const playing = player.start(port, [{ kind: 'ringtone' }, audio('never')])
    await settle()
    expect(port.playing?.request.loop).toBe(0)
    playing.stop()
    await playing.done
    expect(port.playing).toBeUndefined()
  })

  it.each([
    [25, [2, undefined], [80, 40]],
    [30, [3], [80]],
    [4, [undefined], [32]],
  ])('plays %d ms of a ringing tone as periods of 10 ms and the rest of one', async (ms, loops, lengths) => {
    const { done } = player.start(port, [{ kind: 'ringtone', country: 'de', ms }], { loop: 2 })
    for (let round = 0; round < 2; round++) {
      for (const [i, loop] of loops.entries()) {
        await settle()
        const { request } = port.playing ?? {}
        expect([request?.loop, request?.prompt.samples.length]).toEqual([loop, lengths[i]])
        port.playing?.finish('finished')
      }
    }
    await done
    expect(prepared).toEqual(['ringtone'])
  })

  it('plays the sounds before one that cannot be fetched, and then fails', async () => {
    broken = 'https://sounds.example/b'
    const { done } = player.start(port, [audio('a'), audio('b')])
    await settle()
    expect(port.playing).toBeDefined()
    port.playing?.finish('finished')
    await expect(done).rejects.toThrow('404')
  })

  it('does not play a sound that was stopped during its fetch', async () => {
    const playing = player.start(port, [audio('a')])
    playing.stop()
    await playing.done
    expect(port.playing).toBeUndefined()
  })

  it('ends the list when another sound starts on the port', async () => {
    const { done } = player.start(port, [audio('a'), audio('b')], { loop: 0 })
    await settle()
    player.start(port, [{ kind: 'silence', ms: 10 }])
    await done
    await settle()
    expect(prepared.at(-1)).toBe('silence')
    expect(port.playing).toBeDefined()
  })

  it('ends a list that still fetches its sound when another list starts on the port', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    held = promise
    const { done } = player.start(port, [audio('a')])
    await settle()
    player.start(port, [{ kind: 'silence', ms: 10 }], { volumeDb: -3 })
    await settle()
    resolve()
    await done
    await settle()
    expect(port.playing?.request.volumeDb).toBe(-3)
    expect(signals[0]?.aborted).toBe(true)
  })

  it('plays an empty list at once', async () => {
    await player.start(port, [], { loop: 0 }).done
    expect(player.prepareFirst([])).toBeUndefined()
  })

  it('prepares sounds at the rate of the port', async () => {
    for (const codec of ['PCMA', 'G722', 'L16', 'opus', undefined] as const) {
      const { done } = player.start(Object.assign(new FakePort('call'), { codec }), [
        { kind: 'silence', ms: 10 },
      ])
      await settle()
      done.catch(() => {})
    }
    const wide = Object.assign(new FakePort('call'), { codec: 'G722' as const })
    await player.prepareFirst([audio('a')], { port: wide })?.prompt
    await player.prepareFirst([audio('a')])?.prompt
    expect(rates).toEqual([8000, 16_000, 16_000, encodedRate('opus'), 8000, 16_000, 8000])
  })

  it('cancels the fetch when it is stopped, without a failure', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    held = promise
    const playing = player.start(port, [audio('a')])
    await settle()
    playing.stop()
    expect(signals[0]?.aborted).toBe(true)
    resolve()
    await playing.done
    expect(port.playing).toBeUndefined()
  })

  it('cancels the preparation of the next sound, and of the first one, when it is stopped', async () => {
    const playing = player.start(port, [audio('a'), audio('b')])
    await settle()
    playing.stop()
    await playing.done
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true])
    const controller = new AbortController()
    const first = player.prepareFirst([audio('c')], { signal: controller.signal })!
    await first.prompt
    const again = player.start(port, [audio('c')], { first })
    again.stop()
    expect(signals[2]?.aborted).toBe(true)
    await again.done
    const other = player.prepareFirst([audio('d')], { signal: controller.signal })!
    controller.abort()
    await other.prompt.catch(() => {})
    expect(signals[3]?.aborted).toBe(true)
  })

  it('pauses, also between sounds, and resumes', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const playing = player.start(port, [{ kind: 'silence', ms: 10 }, audio('a')])
    held = promise
    await settle()
    await next()
    playing.pause()
    resolve()
    await settle()
    expect(port.playing?.paused).toBe(true)
    playing.resume()
    expect(port.playing?.paused).toBe(false)
    await next()
    await playing.done
    playing.pause()
    playing.stop()
  })

  it('has one volume for all sounds, from -40 to 40 dB', async () => {
    const playing = player.start(port, [audio('a'), audio('b')], { volumeDb: 100 })
    await settle()
    expect(port.playing?.request.volumeDb).toBe(40)
    playing.setVolume(-99)
    expect(port.playing?.volumeDb).toBe(-40)
    await next()
    expect(port.playing?.request.volumeDb).toBe(-40)
    playing.stop()
    await playing.done
  })

  it('reports sounds that differ from the request', async () => {
    const warnings: string[] = []
    const warn = (message: string) => warnings.push(message)
    await player.prepareFirst([audio('a')], { warn })?.prompt
    player.start(port, [audio('a')], { warn })
    await settle()
    expect(warnings).toEqual(['not as requested', 'not as requested'])
  })

  it('passes the project of the sounds on', async () => {
    await player.prepareFirst([audio('a')], { customer: 'p1' })?.prompt
    player.start(port, [audio('a')], { customer: 'p2' })
    await settle()
    expect(options.map(({ customer }) => customer)).toEqual(['p1', 'p2'])
  })
})
