import { describe, expect, it } from 'vitest'
import { leastLoaded, type MediaWorker, WorkerSupervisor } from './worker-supervisor.ts'

/** Supervisor of a worker that can start or not, and has failed before or not. */
const supervise = (pid: number, transports: number, { canStart = true, hasFailed = false } = {}) => {
  const supervisor = {
    hasFailed,
    transports,
    requests: 0,
    retries: 0,
    get: async () => {
      supervisor.requests++
      if (!canStart) throw new Error(`no start of ${pid}`)
      return { pid } as MediaWorker
    },
    retry: () => void supervisor.retries++,
  }
  return supervisor
}

describe('the choice of a worker', () => {
  it('is the one with the fewest transports', async () => {
    const all = [supervise(1, 5), supervise(2, 3), supervise(3, 3)]
    expect((await leastLoaded(all)).pid).toBe(2)
    expect(all.map(({ requests }) => requests)).toEqual([0, 1, 0])
  })

  it('is the next one if it does not start', async () => {
    const all = [supervise(1, 7), supervise(2, 0, { canStart: false }), supervise(3, 5)]
    expect((await leastLoaded(all)).pid).toBe(3)
  })

  it('does not wait for one that has failed, which starts in the background', async () => {
    const all = [supervise(1, 0, { hasFailed: true }), supervise(2, 300)]
    expect((await leastLoaded(all)).pid).toBe(2)
    expect([all[0]!.requests, all[0]!.retries]).toEqual([0, 1])
    expect((await leastLoaded([all[0]!])).pid).toBe(1)
  })

  it('fails with the first error if none starts, and without workers', async () => {
    const all = [supervise(1, 1, { canStart: false }), supervise(2, 0, { canStart: false })]
    await expect(leastLoaded(all)).rejects.toThrow('no start of 2')
    await expect(leastLoaded([])).rejects.toMatchObject({ code: 'closed' })
  })
})

describe('a worker that does not start', () => {
  it('has failed, and fails each request', async () => {
    const relayPorts = { from: 1, to: 2 }
    const settings = { listen: [], addresses: [], port: 1, relayPorts, logLevel: 'error' } as const
    const supervisor = new WorkerSupervisor({ ...settings, program: '/nowhere/worker' }, () => {})
    expect(supervisor.hasFailed).toBe(false)
    for (let i = 0; i < 2; i++) {
      await expect(supervisor.get()).rejects.toThrow('/nowhere/worker')
      expect([supervisor.hasFailed, supervisor.transports]).toEqual([true, 0])
    }
    supervisor.retry()
    await supervisor.close()
  })
})
