/** The small C programs of the benchmarks, and where programs run. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'

const folder = mkdtempSync(join(tmpdir(), 'bench-media-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

/** A new file's path; it is gone when this process ends. */
export const temporary = (name: string): string => join(folder, name)

/** Compiles `name`.c; the path of the program, or undefined where there is no compiler. Throws where it does not compile. */
export const compile = (name: string): string | undefined => {
  const program = temporary(name)
  const source = join(import.meta.dirname, `${name}.c`)
  const run = spawnSync('cc', ['-O2', '-o', program, source], { encoding: 'utf8' })
  if (run.error) return undefined
  if (run.status !== 0) throw new Error(run.stderr)
  return program
}

/** What is measured has a core of its own, and the load another, where there are two and the system can do that. */
const pins = availableParallelism() > 1 && spawnSync('taskset', ['-V']).status === 0

/** Both go before everything else where the system lets them, so that other work neither delays the load nor makes packets queue. */
const urgent = spawnSync('chrt', ['-r', '1', 'true']).status === 0

/** `system` is what is measured. */
export type Role = 'load' | 'system'

/** The command that runs another one on the core of its role. */
export const pinned = (role: Role, command: readonly string[]): [string, string[]] => {
  const first = urgent ? ['chrt', '-r', '1'] : []
  const core = pins ? ['taskset', '-c', role === 'load' ? '0' : '1'] : []
  const [program = '', ...words] = [...first, ...core, ...command]
  return [program, words]
}

/** A program that takes and answers lines. */
export class LineProgram {
  readonly #child: ChildProcess
  readonly #lines: Interface

  constructor(role: Role, command: readonly string[]) {
    const [program, words] = pinned(role, command)
    this.#child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#lines = createInterface({ input: this.#child.stdout! })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Rejects when the program ends instead. */
  async line(): Promise<string> {
    const [line] = await Promise.race([
      once(this.#lines, 'line'),
      once(this.#child, 'exit').then(([code]) => {
        throw new Error(`the program ended with ${code}`)
      }),
    ])
    return line
  }

  say(line: string): void {
    this.#child.stdin?.write(`${line}\n`)
  }

  /** Ends it. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const gone = once(this.#child, 'exit')
    this.#child.stdin?.end()
    this.#child.kill()
    await gone
  }
}
