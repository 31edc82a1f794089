import { beforeEach, describe, expect, it } from 'vitest'
import { Stopping } from './stopping.ts'

describe('the order to stop', () => {
  let done: string[]
  let stopping: Stopping
  beforeEach(() => {
    done = []
    stopping = new Stopping({ hurry: () => done.push('hurry'), force: () => done.push('force') })
  })

  it('is given by the first signal; the second hurries, and any further one forces', async () => {
    stopping.signal('SIGTERM')
    expect(await stopping.asked).toEqual({ reason: 'SIGTERM', failed: false })
    expect(done).toEqual([])
    stopping.signal('SIGINT')
    stopping.signal('SIGINT')
    stopping.signal('SIGTERM')
    expect(done).toEqual(['hurry', 'force', 'force'])
  })

  it('is given by a failure too, once; the first signal after that hurries', async () => {
    stopping.fail('the SIP agent died')
    stopping.fail('uncaughtException')
    stopping.signal('SIGTERM')
    stopping.fail('uncaughtException')
    expect(await stopping.asked).toEqual({ reason: 'the SIP agent died', failed: true })
    expect(done).toEqual(['hurry'])
  })
})
