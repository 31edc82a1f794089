/** SIPp as a carrier that calls at a rate. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../media/testing/free-ports.ts'
import { Program } from '../../test/support/program.ts'

/** Result of a run of SIPp. */
export interface Load {
  readonly answered: number
  readonly failed: number
  /** Number of messages that SIPp retransmitted. */
  readonly repeated: number
  readonly seconds: number
  /** Whether all calls succeeded, without retransmissions that prolonged the run. */
  readonly isClean: boolean
}

/**
 * Places calls to `host` at a port of 127.0.0.1, `rate` per second, each held for `holdMs`. Stops 15 s after
 * the expected end.
 */
export const callsAt = async (
  port: number,
  rate: number,
  calls: number,
  holdMs = 0,
  host = '127.0.0.1',
): Promise<Load> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-sipp-'))
  const statistics = join(folder, 'statistics')
  const scenario = join(folder, 'caller.xml')
  writeFileSync(
    scenario,
    readFileSync(join(import.meta.dirname, 'caller.xml'), 'utf8').replaceAll('%host%', host),
  )
  const expected = calls / rate + holdMs / 1000
  try {
    const began = performance.now()
    const options = {
      sf: scenario,
      i: '127.0.0.1',
      p: await freePort(),
      cp: await freePort(),
      t: 'u1',
      r: rate,
      m: calls,
      l: calls,
      d: holdMs,
      buff_size: 8 << 20,
      stf: statistics,
      fd: 1,
      timeout: Math.ceil(expected + 15),
    }
    const args = Object.entries(options).flatMap(([name, value]) => [`-${name}`, String(value)])
    const sipp = new Program('sipp', [`127.0.0.1:${port}`, ...args, '-trace_stat', '-nostdin'], {
      cwd: folder,
    })
    await sipp.end()
    const seconds = (performance.now() - began) / 1000
    const [names = [], ...rows] = readFileSync(statistics, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(';'))
    const figure = (name: string) => Number(rows.at(-1)?.[names.indexOf(name)] ?? Number.NaN)
    const answered = figure('SuccessfulCall(C)')
    const failed = calls - answered
    return {
      answered,
      failed,
      repeated: figure('Retransmissions(C)'),
      seconds,
      isClean: failed === 0 && seconds < expected + 3,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
