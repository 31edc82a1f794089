/** `scripts/bench start`. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Gateway } from '../../test/support/gateway.ts'
import { family, memory } from './processes.ts'

const runs = 5

/** Prints the time from the command to ready (each run with a new data folder, so with making keys and certificate) and the idle memory. */
export const start = async (): Promise<void> => {
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    const began = performance.now()
    const gateway = await Gateway.start()
    times.push(performance.now() - began)
    if (run === runs - 1) {
      await sleep(5_000)
      const parts = memory(family(gateway.pid))
      const sum = parts.reduce((total, { mib }) => total + mib, 0)
      const each = parts.map(({ name, mib }) => `${name} ${mib.toFixed(0)}`).join(' + ')
      console.log(`idle memory: ${sum.toFixed(0)} MiB (${each})`)
    }
    await gateway.stop()
  }
  const sorted = times.toSorted((a, b) => a - b).map((ms) => (ms / 1000).toFixed(2))
  console.log(
    `start to ready: median ${sorted[runs >> 1]} s, ${sorted[0]} to ${sorted.at(-1)} s, ${runs} starts`,
  )
}
