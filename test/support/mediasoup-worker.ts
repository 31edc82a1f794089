import { readdirSync, readFileSync } from 'node:fs'
import type { Gateway } from './gateway.ts'

/** Process ids of the mediasoup workers of a gateway. */
const workersOf = ({ pid }: Pick<Gateway, 'pid'>): readonly number[] =>
  readdirSync('/proc').flatMap((name) => {
    try {
      const status = /^\d+$/.test(name) ? readFileSync(`/proc/${name}/status`, 'utf8') : ''
      const isWorker = /^Name:\s*mediasoup-worke/m.test(status) && status.includes(`\nPPid:\t${pid}\n`)
      return isWorker ? [Number(name)] : []
    } catch {
      // The process has ended meanwhile.
      return []
    }
  })

/** Kills the one mediasoup worker of a gateway. Throws if it has another number of workers. */
export const killWorker = (gateway: Pick<Gateway, 'pid'>): void => {
  const workers = workersOf(gateway)
  if (workers.length !== 1) throw new Error(`one worker expected, not ${workers.length}`)
  process.kill(workers[0]!, 'SIGKILL')
}
