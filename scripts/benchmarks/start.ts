/** `scripts/bench start`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Gateway } from '../../test/support/gateway.ts'
import { family, memory } from './processes.ts'

const runs = 5

/**
 * Prints the time from the command to ready, and the idle memory. The first start also creates keys,
 * certificate and password hashes.
 */
export const start = async (): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'bench-'))
  try {
    console.log(`first start to ready: ${seconds(await timed(dataDir))} s`)
    const times: number[] = []
    for (let run = 1; run < runs; run++) times.push(await timed(dataDir))
    times.push(await timed(dataDir, printMemory))
    const sorted = times.toSorted((a, b) => a - b)
    const [median, min, max] = [runs >> 1, 0, runs - 1].map((index) => seconds(sorted[index] ?? 0))
    console.log(`start to ready: median ${median} s, ${min} to ${max} s, ${runs} starts`)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Starts and stops a gateway. Returns the milliseconds from the command to ready. */
const timed = async (dataDir: string, meanwhile?: (pid: number) => Promise<void>): Promise<number> => {
  const began = performance.now()
  const gateway = await Gateway.start({ dataDir })
  const took = performance.now() - began
  await meanwhile?.(gateway.pid)
  await gateway.stop()
  return took
}

const printMemory = async (pid: number): Promise<void> => {
  await sleep(5_000)
  const parts = memory(family(pid))
  const sum = parts.reduce((total, { mib }) => total + mib, 0)
  const each = parts.map(({ name, mib }) => `${name} ${mib.toFixed(0)}`).join(' + ')
  console.log(`idle memory: ${sum.toFixed(0)} MiB (${each})`)
}

const seconds = (ms: number): string => (ms / 1000).toFixed(2)
