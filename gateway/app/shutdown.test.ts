import { beforeEach, describe, expect, it } from 'vitest'
import { ReloadSignal, Shutdown } from './shutdown.ts'

describe('the order to stop', () => {
  let done: string[]
  let stopping: Shutdown
  beforeEach(() => {
    done = []
    stopping = new Shutdown({ hurry: () => done.push('hurry'), force: () => done.push('force') })
  })

  it('is given by the first signal; the second hurries, and any further one forces', async () => {
    stopping.signal('SIGTERM')
    expect(await stopping.requested).toEqual({ reason: 'SIGTERM', failed: false })
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
    expect(await stopping.requested).toEqual({ reason: 'the SIP agent died', failed: true })
    expect(done).toEqual(['hurry'])
  })
})

describe('the order to reload', () => {
  it('that comes early waits, and is carried out once', () => {
    const reloading = new ReloadSignal()
    let times = 0
    reloading.signal()
    reloading.signal()
    reloading.ready(() => times++)
    expect(times).toBe(1)
    reloading.signal()
    expect(times).toBe(2)
  })

  it('is carried out only when it comes', () => {
    const reloading = new ReloadSignal()
    let times = 0
    reloading.ready(() => times++)
    expect(times).toBe(0)
  })
})
