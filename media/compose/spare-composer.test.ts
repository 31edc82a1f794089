import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../edge/testing/test-clock.ts'
import type { ComposerChildListener } from './composer-child.ts'
import { ComposerSlot } from './composer-slot.ts'
import { type ComposerHandle, SpareComposer } from './spare-composer.ts'

/** Process that records what its owners do. */
class FakeChild implements ComposerHandle {
  isReady = false
  isEnded = false
  listener: ComposerChildListener
  readonly commands: string[] = []

  constructor(listener: ComposerChildListener) {
    this.listener = listener
  }

  handOver(listener: ComposerChildListener): void {
    this.listener = listener
  }

  send({ op }: { readonly op: string }): void {
    this.commands.push(op)
  }

  end(): Promise<void> {
    this.isEnded = true
    return Promise.resolve()
  }

  start(): void {
    this.isReady = true
    this.listener.onReport({ op: 'ready' })
  }

  die(): void {
    this.listener.onDeath(new Error('killed'))
  }
}

const owner = (): ComposerChildListener => ({ onReport: () => {}, onRecord: () => {}, onDeath: () => {} })

describe('the spare composer', () => {
  let clock: TestClock
  let children: FakeChild[]
  let deaths: number
  let spare: SpareComposer

  beforeEach(() => {
    clock = new TestClock()
    children = []
    deaths = 0
    spare = new SpareComposer({
      clock,
      fork: (listener) => {
        const child = new FakeChild(listener)
        children.push(child)
        return child
      },
      onDeath: () => deaths++,
    })
  })

  it('starts 2 s after the first picture, and ends 10 s after the last one', () => {
    spare.keep(true)
    spare.keep(true)
    clock.advance(1999)
    expect(children.length).toBe(0)
    clock.advance(1)
    expect(children.length).toBe(1)
    spare.keep(false)
    clock.advance(9999)
    spare.keep(true)
    clock.advance(60_000)
    expect([children.length, children[0]?.isEnded]).toEqual([1, false])
    spare.keep(false)
    clock.advance(10_000)
    expect([children[0]?.isEnded, clock.running]).toEqual([true, 0])
  })

  it('does not start for a picture that ends soon', () => {
    spare.keep(true)
    clock.advance(1000)
    spare.keep(false)
    clock.advance(60_000)
    expect([children.length, clock.running]).toEqual([0, 0])
  })

  it('takes the place of another process, and is replaced', () => {
    expect(spare.take(owner())).toBe(children[0])
    spare.keep(true)
    clock.advance(2000)
    children[1]!.start()
    const next = owner()
    expect(spare.take(next)).toBe(children[1])
    expect(children[1]!.listener).toBe(next)
    clock.advance(2000)
    expect(children.length).toBe(3)
    // It may be taken while it starts.
    expect(spare.take(owner())).toMatchObject({ isReady: false })
  })

  it('starts again after its death, later after each one in a row', () => {
    spare.keep(true)
    const waits = Array.from({ length: 8 }, () => {
      const before = children.length
      const began = clock.now()
      while (children.length === before) clock.advance(500)
      children.at(-1)!.die()
      return clock.now() - began
    })
    expect([waits, deaths]).toEqual([[2000, 2500, 3000, 4000, 6000, 10_000, 18_000, 32_000], 8])
    clock.advance(40_000)
    children.at(-1)!.listener.onReport({ op: 'usage', load: 0, rooms: [] })
    children.at(-1)!.die()
    clock.advance(2500)
    expect(children.length).toBe(10)
  })

  it('counts a start that fails as a death, of its own and of a slot', async () => {
    const reasons: string[] = []
    const failing = new SpareComposer({
      clock,
      fork: () => {
        throw new Error('EAGAIN')
      },
      onDeath: ({ message }) => reasons.push(message),
    })
    failing.keep(true)
    clock.advance(2000)
    clock.advance(2500)
    expect(reasons).toEqual(['EAGAIN', 'EAGAIN'])
    await failing.close()
    const slot = new ComposerSlot({ clock, spare: failing, onDeath: ({ message }) => reasons.push(message) })
    const picture = {} as Parameters<typeof slot.add>[1]
    await expect(slot.add(1, picture)).rejects.toThrow('EAGAIN')
    const second = expect(slot.add(1, picture)).rejects.toThrow('EAGAIN')
    await second
    const delayed = expect(slot.add(1, picture)).rejects.toThrow('EAGAIN')
    clock.advance(500)
    await delayed
    expect([reasons.length, clock.running]).toEqual([5, 0])
  })

  it('ends for good with the composers', async () => {
    spare.keep(true)
    clock.advance(2000)
    await spare.close()
    spare.keep(true)
    clock.advance(60_000)
    expect([children.map(({ isEnded }) => isEnded), clock.running]).toEqual([[true], 0])
  })

  it('lets a slot go on at once after a death, and only the first time in a row', async () => {
    const reasons: string[] = []
    const slot = new ComposerSlot({ clock, spare, onDeath: ({ message }) => reasons.push(message) })
    const picture = {
      setLoad: () => {},
      setPort: () => {},
      setPictured: () => {},
      setStalled: () => {},
      fail: () => {},
      deliver: () => {},
      lose: () => {},
    }
    const added = slot.add(1, picture)
    children[0]!.start()
    await added
    spare.keep(true)
    clock.advance(2000)
    children[1]!.start()
    children[0]!.die()
    // The spare process runs: no wait at all.
    await slot.add(1, picture)
    slot.send({ op: 'keyFrame', room: 1 })
    expect(children[1]!.commands).toEqual(['keyFrame'])
    clock.advance(2000)
    children[2]!.start()
    children[1]!.die()
    const again = slot.add(1, picture)
    clock.advance(499)
    slot.send({ op: 'keyFrame', room: 1 })
    expect(children[2]!.commands).toEqual([])
    clock.advance(1)
    await again
    expect(reasons).toEqual(['killed', 'killed'])
  })
})
