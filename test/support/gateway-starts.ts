import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Program } from './program.ts'
import { until } from './until.ts'

const program = join(import.meta.dirname, 'gateway-starts-process.ts')

/** Returns the path of the mediasoup worker, as `scripts/trunkline` finds it. */
const workerPath = (): string =>
  process.env.MEDIASOUP_WORKER_BIN ??
  readFileSync(join(import.meta.dirname, '../../node_modules/.cache/trunkline-worker'), 'utf8').trim()

/**
 * Starts of gateways that fail, one after another in one process, which loads the gateway once. The commands
 * are those of `trunkline run`; the entry point of the process is not part of it.
 */
export class GatewayStarts {
  readonly #program: Program

  /** Takes the folder in which the starts run. */
  constructor(cwd: string) {
    this.#program = new Program(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
      cwd,
      env: { ...process.env, MEDIASOUP_WORKER_BIN: workerPath() },
      input: true,
      name: 'starts',
    })
  }

  /** Runs a gateway that must fail. Returns its exit code and its output. */
  async run(file: string): Promise<{ code: number; output: string }> {
    const { lines } = this.#program
    const first = lines.length
    const end = (): number => lines.findIndex((line, at) => at >= first && line.startsWith('exit code '))
    this.#program.type(file)
    const at = await until(
      'the start has failed',
      () => {
        if (this.#program.exitCode !== undefined) throw new Error('the process of the starts ended')
        return end()
      },
      (found) => found !== -1,
      20_000,
    )
    return {
      code: Number(lines[at]!.slice('exit code '.length)),
      output: lines.slice(first, at).join('\n'),
    }
  }

  /** Ends the process. */
  async stop(): Promise<void> {
    this.#program.type('')
    await this.#program.end()
  }
}
