/** C programs of the benchmarks, and the cores of programs. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'

const folder = mkdtempSync(join(tmpdir(), 'bench-media-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

/** Returns the path of a temporary file, which is deleted when this process ends. */
export const temporary = (name: string): string => join(folder, name)

/**
 * Compiles `name`.c. Returns the path of the program, or undefined without a compiler. Throws if the
 * compilation fails.
 */
export const compile = (name: string): string | undefined => {
  const program = temporary(name)
  const source = join(import.meta.dirname, `${name}.c`)
  const run = spawnSync('cc', ['-O2', '-o', program, source], { encoding: 'utf8' })
  if (run.error) return undefined
  if (run.status !== 0) throw new Error(run.stderr)
  return program
}

/** Whether the system under test and the load each have their own core. */
const isPinned = availableParallelism() > 1 && spawnSync('taskset', ['-V']).status === 0

/** Whether programs may run at real-time priority, undisturbed by other processes. */
const isRealTime = spawnSync('chrt', ['-r', '1', 'true']).status === 0

/** Role of a program; `system` is the system under test. */
export type Role = 'load' | 'system'

/** Returns the command that runs another one on the core of its role. */
export const pinned = (role: Role, command: readonly string[]): [string, string[]] => {
  const first = isRealTime ? ['chrt', '-r', '1'] : []
  const core = isPinned ? ['taskset', '-c', role === 'load' ? '0' : '1'] : []
  const all = [...first, ...core, ...command]
  const [program = '', ...words] = all
  return [program, words]
}

/** Program that reads and answers lines. */
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

  /** Returns the next line. Rejects if the program exits. */
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

  /** Terminates the program. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const gone = once(this.#child, 'exit')
    this.#child.stdin?.end()
    this.#child.kill()
    await gone
  }
}
