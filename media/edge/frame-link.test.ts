import { MessageChannel } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { FrameLink } from './frame-link.ts'

const options = { rate: 16_000, isContinuous: false } as const
const frame = (value: number) => new Int16Array(320).fill(value)

/** Returns two ends, and records their closing. */
function setUp() {
  const { port1, port2 } = new MessageChannel()
  const closed: string[] = []
  const ends = {
    here: new FrameLink(port1, options, () => closed.push('here')),
    there: new FrameLink(port2, options, () => closed.push('there')),
  }
  /** Writes frames and waits for their arrival. */
  const say = async (...values: number[]) => {
    for (const value of values) ends.here.write(frame(value), 16_000)
    // Messages are delivered before the event loop's next turn.
    await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setImmediate(resolve))
  }
  const heard = () => ends.there.read()?.[0]
  return { ...ends, closed, say, heard }
}

describe('a frame channel between two threads', () => {
  it('waits for two frames, and delivers them in order until they run out', async () => {
    const { say, heard, here, there } = setUp()
    await say(1)
    expect(heard()).toBeUndefined()
    await say(2, 3)
    expect([heard(), heard(), heard(), heard()]).toEqual([1, 2, 3, undefined])
    await say(4)
    expect(heard()).toBeUndefined()
    here.close()
    there.close()
  })

  it('drops the oldest frames beyond the limit', async () => {
    const { say, heard, here, there } = setUp()
    await say(1, 2, 3, 4, 5, 6)
    expect([heard(), heard(), heard()]).toEqual([5, 6, undefined])
    here.close()
    there.close()
  })

  it('does not send silence, and does not keep written frames', async () => {
    const { say, heard, here, there } = setUp()
    const mine = frame(7)
    here.write(undefined, 16_000)
    here.write(mine, 16_000)
    expect(mine).toHaveLength(320)
    await say(8)
    expect([heard(), heard()]).toEqual([7, 8])
    here.close()
    there.close()
  })

  it('reports closing to the other end, and is silent afterwards', async () => {
    const { closed, here, there, say } = setUp()
    here.close()
    here.close()
    await say(1)
    while (closed.length === 0) await new Promise((resolve) => setImmediate(resolve))
    expect(closed).toEqual(['there'])
    there.write(frame(1), 16_000)
    there.close()
    expect(there.read()).toBeUndefined()
  })
})
