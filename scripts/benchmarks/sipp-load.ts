/** SIPp as a carrier that calls at a rate. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../test/support/ports.ts'
import { Program } from '../../test/support/program.ts'

/** What SIPp made of it. */
export interface Load {
  readonly answered: number
  readonly failed: number
  /** Messages that SIPp sent again. */
  readonly repeated: number
  readonly seconds: number
  /** No call failed, none was repeated for so long that the run dragged on. */
  readonly clean: boolean
}

/** Places `calls` calls to `port` of 127.0.0.1, `rate` each second, held for `holdMs`; at most for 15 s longer than that takes. */
export const callsAt = async (port: number, rate: number, calls: number, holdMs = 0): Promise<Load> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-sipp-'))
  const statistics = join(folder, 'statistics')
  const expected = calls / rate + holdMs / 1000
  try {
    const began = performance.now()
    const sipp = new Program(
      'sipp',
      [
        ...[
          `127.0.0.1:${port}`,
          '-sf',
          join(import.meta.dirname, 'caller.xml'),
          '-i',
          '127.0.0.1',
          '-t',
          'u1',
        ],
        ...['-p', String(await freePort()), '-r', String(rate), '-m', String(calls), '-l', String(calls)],
        ...[
          '-d',
          String(holdMs),
          '-buff_size',
          String(8 << 20),
          '-nostdin',
          '-trace_stat',
          '-stf',
          statistics,
        ],
        ...['-fd', '1', '-timeout', String(Math.ceil(expected + 15))],
      ],
      { cwd: folder },
    )
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
      clean: failed === 0 && seconds < expected + 3,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
