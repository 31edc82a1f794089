import { describe, expect, it } from 'vitest'
import type { MediaPort } from '../../media/types.ts'
import { LateTap } from './late-tap.ts'
import { FakeTap } from './testing/fake-tap.ts'

const open = () => {
  const tap = new LateTap({ tracks: 'in', sampleRate: 8000 })
  const fake = new FakeTap()
  const port = { id: 'port', tap: () => fake } as Partial<MediaPort> as MediaPort
  return { tap, fake, port }
}

describe('LateTap', () => {
  it('says what waited when its port comes, and hears from then on', () => {
    const { tap, fake, port } = open()
    const heard: number[] = []
    let queued = 0
    tap.onQueued(() => queued++)
    tap.onFrame(({ samples }) => heard.push(samples.length))
    tap.setReflex({})
    const samples = Int16Array.of(1, 2)
    tap.speak(samples, 1)
    samples.fill(0)
    tap.finish(1)
    tap.allowFade(false)
    expect([queued, fake.commands]).toEqual([1, []])
    tap.moveTo(port)
    expect(fake.commands).toEqual([['setReflex'], ['finish', 1]])
    expect([fake.items.get(1), fake.mayFade]).toEqual([2, false])
    fake.hears()
    expect(heard).toEqual([160])
    tap.moveTo({ id: 'other' } as MediaPort)
    expect(fake.commands.at(-1)).toEqual(['moveTo', 'other'])
  })

  it('drops speech that is cut before the port comes', async () => {
    const { tap, fake, port } = open()
    tap.speak(new Int16Array(8), 1)
    const spoken = tap.spoken()
    tap.pause()
    await expect(tap.cut()).resolves.toEqual([])
    await spoken
    tap.moveTo(port)
    expect([fake.items.size, fake.commands.at(-1)]).toEqual([0, ['resume']])
  })

  it('reports speech as spoken only after its port came', async () => {
    const { tap, fake, port } = open()
    await tap.spoken()
    tap.speak(new Int16Array(8), 1)
    let isSpoken = false
    void tap.spoken().then(() => (isSpoken = true))
    tap.moveTo(port)
    await new Promise(setImmediate)
    expect(isSpoken).toBe(false)
    fake.playsAll()
    await new Promise(setImmediate)
    expect(isSpoken).toBe(true)
  })

  it('opens nothing after its end', async () => {
    const { tap, fake, port } = open()
    tap.speak(new Int16Array(8), 1)
    const spoken = tap.spoken()
    tap.close()
    await spoken
    tap.moveTo(port)
    expect([fake.items.size, fake.isClosed]).toEqual([0, false])
  })
})
