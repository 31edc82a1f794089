import { beforeEach, describe, expect, it } from 'vitest'
import type { Sound } from '../../handlers/verbs.ts'
import type { Prompt, SoundSource } from '../../media/types.ts'
import { FakePort } from './fakes.ts'
import { Player } from './player.ts'

const settle = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

const prompt = (): Prompt => ({ sampleRate: 8000, samples: new Int16Array(new SharedArrayBuffer(160)) })
const audio = (name: string): Sound => ({ kind: 'audio', url: `https://sounds.example/${name}` })

describe('the player', () => {
  let port: FakePort
  let fetched: string[]
  let prepared: SoundSource['kind'][]
  let broken: string | undefined
  let player: Player

  beforeEach(() => {
    port = new FakePort('call')
    fetched = []
    prepared = []
    broken = undefined
    player = new Player(
      {
        prepare: async ({ kind }) => {
          prepared.push(kind)
          return prompt()
        },
        close: async () => {},
      },
      {
        bytes: async (url) => {
          fetched.push(new URL(url).pathname)
          if (url === broken) throw new Error('404')
          return { bytes: new Uint8Array() }
        },
      },
    )
  })

  /** Lets the sound on the port come to its end. */
  const next = async () => {
    port.playing?.finish('finished')
    await settle()
  }

  it('fetches each sound once, however often the list is played, and the next one ahead', async () => {
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

  it('plays a ringing tone without a length until it is stopped', async () => {
    const playing = player.start(port, [{ kind: 'ringtone' }, audio('never')])
    await settle()
    expect(port.playing?.request.loop).toBe(0)
    playing.stop()
    await playing.done
    expect(port.playing).toBeUndefined()
  })

  it('plays what comes before a sound that cannot be had, and fails then', async () => {
    broken = 'https://sounds.example/b'
    const { done } = player.start(port, [audio('a'), audio('b')])
    await settle()
    expect(port.playing).toBeDefined()
    port.playing?.finish('finished')
    await expect(done).rejects.toThrow('404')
  })

  it('plays nothing that was stopped while it was being fetched', async () => {
    const playing = player.start(port, [audio('a')])
    playing.stop()
    await playing.done
    expect(port.playing).toBeUndefined()
  })

  it('ends the list when the port is given another sound', async () => {
    const { done } = player.start(port, [audio('a'), audio('b')], { loop: 0 })
    await settle()
    player.start(port, [{ kind: 'silence', ms: 10 }])
    await done
    await settle()
    expect(prepared.at(-1)).toBe('silence')
    expect(port.playing).toBeDefined()
  })

  it('plays an empty list at once', async () => {
    await player.start(port, [], { loop: 0 }).done
    expect(player.prepareFirst([])).toBeUndefined()
  })
})
